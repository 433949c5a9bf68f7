// One block of Markdown to HTML that is safe to put into the page. The dialect
// knows no HTML and writes only links that can be visited; this sanitises what
// it wrote with the few elements Markdown needs. Either wall is enough alone,
// and the server's content security policy stands behind both.
import DOMPurify, { type Config } from 'dompurify';
import { Lexer, Parser, type Links } from 'marked';
import { detailsOf } from './details';
import { dialect } from './dialect';
import { fenceInfo, type FenceInfo } from './fence';
import { typeset } from './typeset.svelte';

const allowed: Config = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote'],
    ...['div', 'pre', 'code', 'em', 'strong', 'del', 'a', 'img', 'span'],
    ...['details', 'summary', 'sup', 'button'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: [
    ...['href', 'target', 'rel', 'src', 'alt', 'class', 'data-language', 'data-name', 'tabindex'],
    ...['align', 'start', 'open', 'type', 'data-note', 'data-picture'],
  ],
  ALLOW_DATA_ATTR: false,
};

/** Reads its rules once, and works on elements: for a text it would make a whole document each time, and
    a growing block is sanitised with every word. */
const purifier = DOMPurify(window);
purifier.setConfig({ ...allowed, IN_PLACE: true });

/** Never part of the page: nothing in it is loaded or run. */
const inert = document.createElement('template').content.ownerDocument;

function sanitize(html: string, then?: (root: Element) => void): string {
  const root = inert.createElement('div');
  root.innerHTML = html;
  purifier.sanitize(root);
  then?.(root);
  return root.innerHTML;
}

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
