// What the browser remembers for this page. Storage can be closed to us
// (private windows, a full disk): then nothing is remembered, and nothing breaks.

export function recall(key: string): string | undefined {
  try {
    return localStorage.getItem(`tenon.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** An empty value is forgotten. */
export function remember(key: string, value: string): void {
  try {
    if (value) localStorage.setItem(`tenon.${key}`, value);
    else localStorage.removeItem(`tenon.${key}`);
  } catch {
    // Not remembered.
  }
}
