/** Shows the page. Its icons are those of a service. */
export { IconPaw } from './components/icons.tsx'
export { start } from './start.tsx'
