// HTML that was made from Markdown, with the few elements that Markdown needs and nothing else. The
// browser does it where it can: a large table takes a tenth of the time, and a growing block is
// sanitised with every word.
import DOMPurify, { type Config } from 'dompurify';

const elements = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote'],
  ...['div', 'pre', 'code', 'em', 'strong', 'del', 'a', 'img', 'span'],
  ...['details', 'summary', 'sup', 'button'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
];

const attributes = [
  ...['href', 'target', 'rel', 'src', 'alt', 'class', 'data-language', 'data-name', 'tabindex'],
  ...['align', 'start', 'open', 'type', 'data-note', 'data-picture'],
];

/** Fills an element with the part of the HTML that is allowed. */
type Fill = (element: Element, html: string) => void;

/** The HTML Sanitizer API, which TypeScript does not know yet. */
interface SanitizingElement extends Element {
  setHTML(html: string, options: { sanitizer: unknown }): void;
}

declare const Sanitizer: new (config: {
  elements: readonly string[];
  attributes: readonly string[];
  dataAttributes: boolean;
  comments: boolean;
}) => unknown;

/** Never part of the page: nothing in it is loaded or run. */
const inert = document.createElement('template').content.ownerDocument;

const fill: Fill =
  'setHTML' in Element.prototype && 'Sanitizer' in globalThis ? native() : purify();

/** `then` may change what was allowed before it is written. */
export function sanitize(html: string, then?: (root: Element) => void): string {
  const root = inert.createElement('div');
  fill(root, html);
  then?.(root);
  return root.innerHTML;
}

function native(): Fill {
  const sanitizer = new Sanitizer({ elements, attributes, dataAttributes: false, comments: false });
  return (element, html) => (element as SanitizingElement).setHTML(html, { sanitizer });
}

/** Reads its rules once, and works on elements: for a text it would make a whole document each
    time. */
function purify(): Fill {
  const purifier = DOMPurify(window);
  const config: Config = {
    ALLOWED_TAGS: elements,
    ALLOWED_ATTR: attributes,
    ALLOW_DATA_ATTR: false,
    IN_PLACE: true,
  };
  purifier.setConfig(config);
  return (element, html) => {
    element.innerHTML = html;
    purifier.sanitize(element);
  };
}
