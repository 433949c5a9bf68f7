// Coloured code that grows: what is finished is coloured once and never again.
import { escapeHtml } from './escape';

export interface Highlighted {
  html: string;
  /** It ends outside every string, comment and the like. */
  complete: boolean;
}

export type Highlight = (code: string) => Highlighted;

/** Longer code stays plain: colouring it would stop the page. */
export const MAX_HIGHLIGHTED_CHARS = 100_000;
/** A part is closed at the first empty line after so much. */
const PART_CHARS = 1_500;
/** An open part this long is no longer coloured with every word. */
const LONG_PART_CHARS = 12_000;

export class GrowingCode {
  #highlight: Highlight;
  #settled = '';
  #parts: string[] = [];
  /** Where the open part may be closed at the earliest. */
  #earliest = PART_CHARS;
  /** The open part as it was coloured last. */
  #open = { text: '', html: '' };

  constructor(highlight: Highlight) {
    this.#highlight = highlight;
  }

  /** The HTML of its parts; all but the last stay as they are while the code grows. */
  parts(code: string, writing: boolean): string[] {
    if (code.length > MAX_HIGHLIGHTED_CHARS) return [escapeHtml(code)];
    if (!code.startsWith(this.#settled)) this.#forget();
    let rest = code.slice(this.#settled.length);
    for (let cut = this.#cut(rest); cut > 0; cut = this.#cut(rest)) {
      const part = rest.slice(0, cut);
      const { html, complete } = this.#highlight(part);
      if (complete) {
        this.#parts.push(html);
        this.#settled += part;
        this.#earliest = PART_CHARS;
        rest = rest.slice(cut);
      } else {
        // Inside a long comment or the like: looked at again when there is much more of it.
        this.#earliest = Math.ceil(cut * 1.5);
      }
    }
    return rest ? [...this.#parts, this.#openPart(rest, writing)] : [...this.#parts];
  }

  /** Behind the next empty line that something follows that is not indented. */
  #cut(rest: string): number {
    const gap = /\n[ \t]*\n(?=[^\s}\])])/g;
    gap.lastIndex = this.#earliest;
    return gap.exec(rest) ? gap.lastIndex : 0;
  }

  #openPart(rest: string, writing: boolean): string {
    const { text, html } = this.#open;
    const little = rest.length < text.length * 1.25;
    if (writing && text.length > LONG_PART_CHARS && little && rest.startsWith(text)) {
      return html + escapeHtml(rest.slice(text.length));
    }
    if (rest !== text) this.#open = { text: rest, html: this.#highlight(rest).html };
    return this.#open.html;
  }

  #forget(): void {
    this.#settled = '';
    this.#parts = [];
    this.#earliest = PART_CHARS;
  }
}
