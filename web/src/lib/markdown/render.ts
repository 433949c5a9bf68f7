// One block of Markdown to HTML that is safe to put into the page. The dialect
// knows no HTML and writes only links that can be visited; what it wrote is sanitised.
// Either wall is enough alone, and the server's content security policy stands behind both.
import { Lexer, Parser, type Links } from 'marked';
import { detailsOf } from './details';
import { dialect } from './dialect';
import { fenceInfo, type FenceInfo } from './fence';
import { sanitize } from './sanitize';
import { typeset } from './typeset.svelte';

export interface CodeSource extends FenceInfo {
  text: string;
}

/** A block that is code and nothing else. */
export function codeOf(source: string): CodeSource | undefined {
  // What is certainly none is not read twice.
  if (!/^ {0,3}(?:```|~~~)|^(?: {4}|\t)/.test(source)) return undefined;
  const [token, ...others] = new Lexer(dialect).blockTokens(source, []);
  if (token?.type !== 'code' || others.some(({ type }) => type !== 'space')) return undefined;
  return { text: token.text, ...fenceInfo(token.lang) };
}

export interface DetailsSource {
  summary: string;
  text: string;
  open: boolean;
}

/** A block that is folded away, and nothing else. */
export function detailsSourceOf(source: string, links: Links): DetailsSource | undefined {
  const lexer = new Lexer(dialect);
  lexer.tokens.links = links;
  const details = detailsOf(lexer, source);
  if (!details) return undefined;
  const summary = sanitize(new Parser(dialect).parseInline(details.summary));
  return { summary: summary || '…', text: details.text, open: details.open };
}

/** A formula that is still being written is shown as it is. */
export function renderBlock(source: string, links: Links, writingFormula = false): string {
  const lexer = new Lexer(dialect);
  lexer.tokens.links = links;
  return sanitize(
    Parser.parse(lexer.lex(source), dialect),
    writingFormula ? undefined : (root) => typeset(root),
  );
}
