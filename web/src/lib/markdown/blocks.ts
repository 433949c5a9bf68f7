// Markdown in its top-level blocks, so that a growing answer is redrawn only
// where it grows. A block is rendered on its own; the link definitions are
// shared, because they may stand anywhere in the text.
import { Lexer, type Links } from 'marked';
import remend from 'remend';
import { dialect } from './dialect';
import { closedFormula, isOpenFormula } from './math';

export interface Blocks {
  sources: readonly string[];
  links: Links;
  /** Footnotes, by their names. */
  notes: Readonly<Record<string, string>>;
  /** The last one is a formula that is still being written. */
  writingFormula: boolean;
}

/**
 * Splits one text as it grows. Only its last block can still change, so
 * everything before that is read once and never again.
 */
export class BlockSplitter {
  #settled = '';
  #sources: string[] = [];
  #links: Links = {};
  #notes: Record<string, string> = {};

  /** A text that is still being written gets its half-open marks closed. */
  split(markdown: string, writing: boolean): Blocks {
    const text = markdown.replace(/\r\n?/g, '\n');
    if (!text.startsWith(this.#settled)) this.#forget();

    const lexer = new Lexer(dialect);
    // Blocks only: the inline text of a block is read when that block is rendered.
    const tokens = lexer.blockTokens(text.slice(this.#settled.length), []);
    const notes: Record<string, string> = { ...this.#notes };
    for (const token of tokens) {
      if (token.type === 'noteDefinition') notes[token.name] ??= token.text;
    }
    const links = { ...lexer.tokens.links, ...noteLinks(notes), ...this.#links };

    const last = tokens.findLastIndex((token) => isBlock(token.type));
    const open = tokens[last];
    if (!open) return { sources: this.#sources, links, notes, writingFormula: false };
    for (const token of tokens.slice(0, last)) {
      this.#settled += token.raw;
      if (isBlock(token.type)) this.#sources.push(token.raw);
      // The first definition of a name is the one that counts.
      if (token.type === 'def') {
        this.#links[token.tag] ??= { href: token.href, title: token.title };
      }
      if (token.type === 'noteDefinition') this.#notes[token.name] ??= token.text;
    }
    const writingFormula = writing && isOpenFormula(open.raw);
    return { sources: [...this.#sources, sourceOf(open.raw)], links, notes, writingFormula };

    function sourceOf(raw: string): string {
      if (writingFormula) return closedFormula(raw);
      return writing ? remend(raw, { linkMode: 'text-only', katex: false }) : raw;
    }
  }

  #forget(): void {
    this.#settled = '';
    this.#sources = [];
    this.#links = {};
    this.#notes = {};
  }
}

function isBlock(type: string): boolean {
  return type !== 'space' && type !== 'def' && type !== 'noteDefinition';
}

/** How a reference knows that there is such a note. */
function noteLinks(notes: Readonly<Record<string, string>>): Links {
  return Object.fromEntries(
    Object.keys(notes).map((name) => [`^${name}`, { href: '', title: undefined }]),
  );
}
