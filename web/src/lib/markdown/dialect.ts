// Markdown as Tenon reads and writes it: GitHub's, without HTML. What looks like
// a tag is text; it is never parsed as one.
import { Marked, Renderer, type MarkedOptions } from 'marked';
import { detailsExtension } from './details';
import { escapeHtml as escape } from './escape';
import { fenceInfo } from './fence';
import { mathExtensions } from './math';
import { noteExtensions } from './notes';

/** In Latin characters: a sentence, not a name or a number. */
const LONG_CELL = 32;

export const dialect: MarkedOptions = new Marked({
  gfm: true,
  extensions: [...mathExtensions, ...noteExtensions, detailsExtension],
  tokenizer: {
    // No token, so the characters fall through to plain text.
    html: () => undefined,
    tag: () => undefined,
  },
  renderer: {
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      return isWebAddress(href) ? outwardLink(href, words) : words;
    },

    // A picture from elsewhere would tell that host who reads this, and when.
    image({ href, text }) {
      if (isInlinePicture(href)) return `<img src="${escape(href)}" alt="${escape(text)}">`;
      return /^https?:/i.test(href) ? pictureLink(href, text) : escape(text || href);
    },

    // A real checkbox would need a name, and nobody can tick it.
    checkbox({ checked }) {
      return `<span class="box${checked ? ' done' : ''}">${checked ? '☑' : '☐'}</span> `;
    },

    // Wide code and wide tables scroll in themselves, by keyboard too.
    code({ text, lang }) {
      const { language, name } = fenceInfo(lang);
      const named = name ? ` data-name="${escape(name)}"` : '';
      const code = `<pre tabindex="0"><code>${escape(text)}\n</code></pre>`;
      return `<div class="code" data-language="${escape(language)}"${named}>${code}</div>`;
    },
    tablecell({ header, align, tokens, text }) {
      const name = header ? 'th' : 'td';
      const side = align ? ` align="${align}"` : '';
      const long = !header && widthOf(text) > LONG_CELL ? ' class="long"' : '';
      return `<${name}${side}${long}>${this.parser.parseInline(tokens)}</${name}>\n`;
    },
    table(token) {
      return `<div class="table" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>`;
    },
  },
}).defaults;

/** A Chinese character is as wide as two others. */
function widthOf(text: string): number {
  return text.length + (text.match(/[\u2e80-\u9fff\uac00-\ud7af\uff00-\uff60]/g)?.length ?? 0);
}

function outwardLink(href: string, words: string): string {
  return `<a href="${escape(href)}" target="_blank" rel="noopener noreferrer">${words}</a>`;
}

/** Nothing is asked of that host before somebody follows it. Whoever can ask for the picture on a
    click takes its place. */
function pictureLink(href: string, text: string): string {
  const host = escape(/^https?:\/\/([^/?#]+)/i.exec(href)?.[1] ?? '');
  return `<a class="picture" data-picture="${escape(text)}" href="${escape(href)}" target="_blank" rel="noopener noreferrer">${escape(text || href)} <span>${host}</span></a>`;
}

/** Absolute, and of a kind that can only be visited. */
function isWebAddress(href: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(href);
}

function isInlinePicture(href: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp);base64,[a-z0-9+/=]*$/i.test(href);
}
