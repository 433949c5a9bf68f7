// `<details>` and its `<summary>`: the one element of HTML that the dialect reads,
// because models write it and nothing in Markdown stands for it. Inside is Markdown.
import { Lexer, type Token, type TokenizerAndRendererExtension, type TokenizerThis } from 'marked';

export interface DetailsToken {
  type: 'details';
  raw: string;
  open: boolean;
  summary: Token[];
  /** Markdown. */
  text: string;
  tokens: Token[];
}

const begin = /^ {0,3}<details(\s+open(?:="[^"]*")?)?\s*>/i;

export const detailsExtension: TokenizerAndRendererExtension = {
  name: 'details',
  level: 'block',
  childTokens: ['summary', 'tokens'],
  start: (source) => source.match(/\n {0,3}<details[\s>]/i)?.index,
  tokenizer(this: TokenizerThis, source) {
    const match = begin.exec(source);
    if (!match) return undefined;
    const { inside, raw } = content(source, match[0].length);
    const summary = /^\s*<summary\s*>([^]*?)<\/summary\s*>/i.exec(inside);
    const text = inside.slice(summary?.[0].length ?? 0).trim();
    return {
      type: 'details',
      raw,
      open: match[1] !== undefined,
      summary: this.lexer.inlineTokens((summary?.[1] ?? '').replace(/<[^>]*>/g, '').trim()),
      text,
      tokens: this.lexer.blockTokens(text, []),
    } satisfies DetailsToken;
  },
  renderer(token) {
    const { open, summary, tokens } = token as unknown as DetailsToken;
    const words = this.parser.parseInline(summary) || '…';
    return `<details${open ? ' open=""' : ''}><summary>${words}</summary>${this.parser.parse(tokens)}</details>\n`;
  },
};

/** A block that is this and nothing else. */
export function detailsOf(lexer: Lexer, source: string): DetailsToken | undefined {
  if (!begin.test(source)) return undefined;
  const [token, ...others] = lexer.lex(source);
  if (token?.type !== 'details' || others.some(({ type }) => type !== 'space')) return undefined;
  return token as unknown as DetailsToken;
}

/** Up to its own end; one that was never closed has the rest of the text. */
function content(source: string, from: number): { inside: string; raw: string } {
  const tags = /<(\/?)details(?:\s[^>]*)?>/gi;
  tags.lastIndex = from;
  let depth = 1;
  for (let tag = tags.exec(source); tag; tag = tags.exec(source)) {
    depth += tag[1] ? -1 : 1;
    if (depth > 0) continue;
    const rest = /^[ \t]*\n*/.exec(source.slice(tags.lastIndex))?.[0].length ?? 0;
    return { inside: source.slice(from, tag.index), raw: source.slice(0, tags.lastIndex + rest) };
  }
  // The tag at its end may still be coming.
  return { inside: source.slice(from).replace(/<\/?[a-z]*$/i, ''), raw: source };
}
