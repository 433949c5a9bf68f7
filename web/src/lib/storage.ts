// What the browser remembers for this page, for each person apart. Storage can be
// closed to us (private windows, a full disk): then nothing is remembered, and
// nothing breaks.

/** These are the browser's, whoever is logged in; some are needed before anybody is. */
const OF_THE_BROWSER = ['theme', 'language', 'account', 'device'];

let owner = '';

/** Whose things are remembered from now on. Nobody's in particular where there are no accounts. */
export function rememberFor(account: string | undefined): void {
  owner = account ? `${account}.` : '';
}

export function recall(key: string): string | undefined {
  try {
    return localStorage.getItem(nameOf(key)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** An empty value is forgotten. */
export function remember(key: string, value: string): void {
  try {
    if (value) localStorage.setItem(nameOf(key), value);
    else localStorage.removeItem(nameOf(key));
  } catch {
    // Not remembered.
  }
}

/** Calls back when another tab changes what the browser remembers under this key. */
export function whenChangedElsewhere(key: string, changed: () => void): () => void {
  const listen = (event: StorageEvent) => event.key === nameOf(key) && changed();
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}

function nameOf(key: string): string {
  return `tenon.${OF_THE_BROWSER.includes(key) ? '' : owner}${key}`;
}
