// KaTeX with its style and fonts, loaded with the first formula.
//
// Its own HTML and not MathML alone: without a mathematical font on the reader's
// computer Chromium draws MathML with text fonts, and roots and brackets come out
// broken. The MathML stands beside it for those who listen.
import 'katex/dist/katex.min.css';
import katex from 'katex';
import DOMPurify from 'dompurify';

/** Longer ones take seconds, and nobody reads them. */
const MAX_TEX_CHARS = 20_000;

const options = {
  throwOnError: true,
  strict: 'ignore',
  // No links, pictures, classes or raw HTML from TeX.
  trust: false,
  maxExpand: 300,
  maxSize: 30,
} as const;

// Reads its rules once: for each formula that takes longer than the formula itself.
const purifier = DOMPurify(window);
purifier.setConfig({
  USE_PROFILES: { html: true, mathMl: true, svg: true },
  ADD_TAGS: ['semantics', 'annotation'],
  FORBID_TAGS: ['a', 'img', 'image', 'style', 'use', 'form', 'input', 'button'],
  FORBID_ATTR: ['href', 'xlink:href', 'src', 'id'],
});

/** The formula as HTML; nothing where it is no valid TeX. */
export function formulaHtml(tex: string, displayMode: boolean): string | undefined {
  if (tex.length > MAX_TEX_CHARS) return undefined;
  try {
    return purifier.sanitize(katex.renderToString(tex, { ...options, displayMode }));
  } catch {
    return undefined;
  }
}
