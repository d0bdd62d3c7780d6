import { relative } from 'node:path'
import { renderMermaidSVG } from 'beautiful-mermaid'
import type { ElementContent } from 'hast'
import type { MarkdownOptions, MarkdownRenderer } from 'vitepress'
import { pages, toSite } from './pages.ts'

/** Rewrites the relative links of the documents, which lead from file to file of the repository. */
export function addSiteLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('site-links', ({ tokens, env }) => {
    const from = relative(pages, env.realPath ?? env.path)
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.attrGet('href')
      if (token.type === 'link_open' && href !== null && !/^([a-z]+:|#)/.test(href)) {
        // The API reference is no page of VitePress. The class lets the browser open it.
        if (href.endsWith('/openapi.json'))
          token.attrs = [
            ['href', '/api/'],
            ['class', 'vp-raw'],
          ]
        else token.attrSet('href', toSite(href, from))
      }
      // Vite bundles only sources that begin with a dot.
      if (token.type === 'html_inline') token.content = token.content.replace(/(<img src=")(?=\w)/, '$1./')
    }
  })
}

/** Draws Mermaid diagrams, which GitHub draws, too. */
export function addDiagrams(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules
  markdown.renderer.rules.fence = (...args) => {
    const [tokens, index] = args
    const token = tokens[index]
    if (token?.info !== 'mermaid') return fence?.(...args) ?? ''
    const svg = renderMermaidSVG(token.content, { fg: '#000', muted: '#000', transparent: true }).replace(
      /@import [^;]*;/,
      '',
    )
    return `<img class="diagram" alt="A diagram of what the text describes" src="data:image/svg+xml,${encodeURIComponent(svg)}">`
  }
}

/** Lets the copy button copy the commands of a `console` block without prompts and output. */
export const copyCommandsOnly: NonNullable<MarkdownOptions['codeTransformers']>[number] = {
  code(code) {
    if (this.options.lang !== 'console') return
    const isCommand = this.source.split('\n').map((line) => line.startsWith('$ '))
    // The children are lines, and line breaks between them.
    code.children = code.children.map((child, index) => {
      const line = Math.floor(index / 2)
      if (child.type === 'text') return isCommand[line] && isCommand.includes(true, line + 1) ? child : notCopied(child)
      if (child.type !== 'element' || !isCommand[line]) return notCopied(child)
      const [first] = child.children
      const [text] = first?.type === 'element' ? first.children : []
      if (text?.type !== 'text' || !text.value.startsWith('$ ')) throw new Error(`No prompt: ${this.source}`)
      text.value = text.value.slice(2)
      child.children.unshift(notCopied({ type: 'text', value: '$ ' }))
      return child
    })
  },
}

function notCopied(child: ElementContent): ElementContent {
  return { type: 'element', tagName: 'span', properties: { class: 'vp-copy-ignore' }, children: [child] }
}
