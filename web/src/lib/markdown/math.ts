// Formulas in Markdown: `\(…\)`, `\[…\]`, `$$…$$`, and `$…$` where it cannot be
// a price. Markdown leaves what is inside alone; `typeset.svelte.ts` draws it.
import type { TokenizerAndRendererExtension, TokenizerThis, Tokens } from 'marked';
import { escapeHtml } from './escape';

/** No blank line inside: a formula that is never closed ends with its paragraph. */
const body = String.raw`((?:(?!\n[ \t]*\n)[^])+?)`;
const displayBlock = new RegExp(
  String.raw`^ {0,3}(?:\$\$${body}\$\$|\\\[${body}\\\])[ \t]*(?:\n+|$)`,
);
const openBlock = /^ {0,3}(?:\$\$|\\\[)(?:(?!\n[ \t]*\n)[^])*\n*/;
const displayStart = new RegExp(String.raw`^ {0,3}(?:\$\$${body}\$\$|\\\[${body}\\\])`);
const display = new RegExp(String.raw`^(?:\$\$${body}\$\$|\\\[${body}\\\])`);
const inline = new RegExp(String.raw`^\\\(${body}\\\)`);
/** As Pandoc has it: no space just inside, no digit after, on one line; and no name of a variable
    after. */
const dollars = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n])*?)(?<!\s)\$(?![\dA-Z_{(])/;
/** "$5 million or 4 million$": a number, then words. */
const price = /^[\d.,]+\S* +\p{Letter}{2,}/u;

const mathBlock: TokenizerAndRendererExtension = {
  name: 'mathBlock',
  level: 'block',
  start: (source) => source.match(/\n {0,3}(?:\$\$|\\\[)/)?.index,
  tokenizer(this: TokenizerThis, source) {
    const match = displayBlock.exec(source);
    if (match) return { type: 'mathBlock', raw: match[0] };
    const open = openBlock.exec(source)?.[0];
    if (!open || displayStart.test(open)) return undefined;
    // One paragraph, whatever its lines begin with: they may turn out to be a formula.
    const text = open.trim();
    return { type: 'mathBlock', raw: open, text, tokens: this.lexer.inline(text) };
  },
  renderer(token) {
    if (token.tokens) return `<p>${this.parser.parseInline(token.tokens)}</p>\n`;
    return `<div class="math display" tabindex="0">${texOf(token)}</div>\n`;
  },
};

const mathInline: TokenizerAndRendererExtension = {
  name: 'math',
  level: 'inline',
  start: (source) => source.match(/\$|\\[([]/)?.index,
  tokenizer(this: TokenizerThis, source, tokens) {
    const shown = display.exec(source);
    if (shown) return { type: 'math', raw: shown[0], display: true };
    const match = inline.exec(source);
    if (match) return { type: 'math', raw: match[0], display: false };
    const before = tokens.at(-1)?.raw.at(-1) ?? '';
    const between = /[\w$\\]/.test(before) ? undefined : dollars.exec(source);
    if (!between?.[1] || price.test(between[1])) return undefined;
    return { type: 'math', raw: between[0], display: false };
  },
  renderer: (token) =>
    `<span class="math${token.display ? ' display' : ''}">${texOf(token)}</span>`,
};

export const mathExtensions = [mathBlock, mathInline];

/** The end of a text that opens a formula and has not closed it yet. */
export function isOpenFormula(source: string): boolean {
  return /^ {0,3}(?:\$\$|\\\[)/.test(source) && !displayBlock.test(source);
}

/** The same with an end, so that Markdown leaves it alone. */
export function closedFormula(source: string): string {
  // Half of the mark at its end may have come already.
  const open = source.trimEnd().replace(/(?<=[^\\]..)(?<!\\)[\\$]$/s, '');
  return `${open}\n${open.trimStart().startsWith('$') ? '$$' : '\\]'}`;
}

/** With its marks, which are shown where the formula cannot be. */
function texOf({ raw }: Tokens.Generic): string {
  return escapeHtml(raw.trim());
}
