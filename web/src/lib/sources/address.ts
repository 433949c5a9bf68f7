// Addresses as people type them.

/** One with a variable in it is only known once that is filled in. */
export function isAddress(text: string): boolean {
  const url = text.trim();
  return url.startsWith('${') || (/^https?:\/\/./i.test(url) && !/\s/.test(url));
}
