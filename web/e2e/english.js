// English words on a page that speaks Chinese, as sentences.

/** Names of products, formats, units and keys, which are the same in every language. */
const properNames = new Set([
  ...[
    'tenon',
    'mcp',
    'mcpo',
    'openapi',
    'agent',
    'skills',
    'open',
    'webui',
    'python',
    'javascript',
  ],
  ...[
    'api',
    'csv',
    'html',
    'json',
    'http',
    'https',
    'cors',
    'oauth',
    'markdown',
    'token',
    'english',
  ],
  ...['schema', 'iana', 'utc', 'ctrl', 'alt', 'shift', 'esc', 'tab'],
  // A parameter of models, `top_p`.
  'top',
  // What a session was begun with.
  ...['chrome', 'linux', 'node'],
  // What the calculator knows, and what a parameter is called in calls.
  ...['mod', 'sqrt', 'sin', 'log', 'abs', 'round', 'min', 'max', 'sum', 'avg', 'timezone'],
]);

/** A sample of the text size is in both scripts. */
const SAMPLE = 'The quick brown fox jumps over the lazy dog.';

/** English words in what can be read. */
function englishIn(text) {
  const words = text
    .replace(SAMPLE, '')
    // Addresses, variables, and the names of files, sources and tools.
    .replaceAll(/https?:\/\/[\w.:/-]+|\$\{[^}]*\}|\w+_\*|\w*(?:[._:]\w+)+/g, ' ')
    .match(/[A-Za-z]{3,}/g);
  return (words ?? []).filter((word) => !properNames.has(word.toLowerCase()));
}

/** English words that are seen there, or heard: what is code is left out. */
export async function englishAt(locator, where) {
  const texts = await locator.evaluate((root) => {
    const shown = [root, ...root.querySelectorAll('*')].filter(
      (element) =>
        element.checkVisibility() && !element.closest('code, pre, kbd, textarea, .cm-editor'),
    );
    const ownText = (element) =>
      [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
    const spoken = ['aria-label', 'title', 'placeholder', 'alt'];
    return shown.flatMap((element) => [
      ...ownText(element).map(({ data }) => data),
      ...spoken.map((name) => element.getAttribute(name) ?? ''),
    ]);
  });
  return texts
    .filter((text) => englishIn(text).length > 0)
    .map((text) => `${where}: ${text.trim()}`);
}
