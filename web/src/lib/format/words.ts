import { localeFor } from './time';

/** "a, b and c", as the language joins words. */
export function joinWords(words: readonly string[], code: string): string {
  return new Intl.ListFormat(localeFor(code), { type: 'conjunction' }).format(words);
}
