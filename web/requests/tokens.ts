/** What a part of a text is. It has the same name in the style sheet. */
export type TokenKind = 'comment' | 'string' | 'name' | 'number' | 'keyword' | 'option'

export interface Token {
  text: string
  kind?: TokenKind
}

const quoted = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'/.source
const kinds: Record<TokenKind, string> = {
  comment: /(?<!\S)\/\/.*/.source,
  name: `(?:${quoted}|[a-z]\\w*)(?=:(?:\\s|$))`,
  // A regular expression looks like a string too.
  string: `${quoted}|(?<== )/(?:[^/\\\\\\n]|\\\\.)+/\\w*`,
  number: /(?<![\w.@-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?n?(?![\w.])/.source,
  keyword: /\b(?:async|await|const|default|export|false|from|import|new|null|return|true)\b/.source,
  option: /(?<=\s)--[a-z-]+/.source,
}
const token = new RegExp(
  Object.entries(kinds)
    .map(([kind, source]) => `(?<${kind}>${source})`)
    .join('|'),
  'gim',
)

/** Splits JSON, TypeScript or a shell command into parts for highlighting. Together they are the text. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const { index, groups = {}, 0: found } of text.matchAll(token)) {
    if (index > end) tokens.push({ text: text.slice(end, index) })
    // Safe: the names of the groups are the kinds.
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) as TokenKind
    tokens.push({ text: found, kind })
    end = index + found.length
  }
  return end < text.length ? [...tokens, { text: text.slice(end) }] : tokens
}
