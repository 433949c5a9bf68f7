// Settings in localStorage, separate for each account. Storage may be unavailable (private
// windows, a full disk): then nothing is stored, and nothing breaks.

/** Keys shared by all accounts of this browser; some are needed before log-in. */
const SHARED_KEYS = [
  'theme',
  'text',
  'sidebar',
  'language',
  'account',
  'device',
  'deviceName',
];

let owner = '';

/** Whose things are remembered from now on. Nobody's in particular where there are no accounts. */
export function setStorageAccount(account: string | undefined): void {
  owner = account ? `${account}.` : '';
}

export function loadSetting(key: string): string | undefined {
  try {
    return localStorage.getItem(nameOf(key)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** An empty value is forgotten. */
export function saveSetting(key: string, value: string): void {
  try {
    if (value) localStorage.setItem(nameOf(key), value);
    else localStorage.removeItem(nameOf(key));
  } catch {
    // Not remembered.
  }
}

/** Calls back when another tab changes what the browser remembers under this key. */
export function onChangedInOtherTab(key: string, changed: () => void): () => void {
  const listen = (event: StorageEvent) => event.key === nameOf(key) && changed();
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}

function nameOf(key: string): string {
  return `tenon.${SHARED_KEYS.includes(key) ? '' : owner}${key}`;
}
