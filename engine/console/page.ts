/** Shows the page, with an icon in the style of its own ones. */
export { icon } from './components/icons.tsx'
export { start } from './start.tsx'
