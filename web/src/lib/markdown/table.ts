// A table out of an answer, for spreadsheets and for other Markdown.
import { Lexer, type Token, type Tokens } from 'marked';
import { csvText } from '$lib/format/csv';
import { dialect } from './dialect';

/** A block that is a table and nothing else. */
export function tableOf(source: string): Tokens.Table | undefined {
  if (!source.includes('|')) return undefined;
  const [token, ...others] = new Lexer(dialect).lex(source);
  if (token?.type !== 'table' || others.some(({ type }) => type !== 'space')) return undefined;
  return token as Tokens.Table;
}

export function tableCsv({ header, rows }: Tokens.Table): string {
  return csvText([header, ...rows].map((cells) => cells.map(({ tokens }) => plainText(tokens))));
}

/** The words without their marks. */
function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'br') return '\n';
      if ('tokens' in token && token.tokens) return plainText(token.tokens);
      if (token.type === 'math') return token.raw;
      // Without HTML in the dialect a line break in a cell can only be written as this.
      return ('text' in token ? String(token.text) : token.raw).replace(/<br\s*\/?>/gi, '\n');
    })
    .join('');
}
