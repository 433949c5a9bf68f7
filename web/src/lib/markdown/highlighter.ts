// The engine that colours code, loaded with the first code that has a language.
import hljs from 'highlight.js/lib/core';
import { loadLanguage } from './languages';
import type { Highlight } from './growingCode';

/** How to colour code of a language, by the name that `languageName` gave it. */
export async function highlighter(name: string): Promise<Highlight> {
  for (const [part, definition] of await loadLanguage(name)) {
    if (!hljs.getLanguage(part)) hljs.registerLanguage(part, definition);
  }
  return (code) => {
    const result = hljs.highlight(code, { language: name, ignoreIllegals: true });
    // A mode that is still open has the one it was opened in for its parent.
    const top = result._top as { parent?: unknown } | undefined;
    return { html: result.value, complete: top?.parent === undefined };
  };
}
