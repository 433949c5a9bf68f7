import { expect, test } from 'vitest';
import { languages, preferred } from './language.svelte';

test('the first language of the browser that the page speaks is used', () => {
  const check = (tags: string[], expected: string) => expect(preferred(tags)).toBe(expected);
  check(['en-GB'], 'en');
  check(['zh-CN'], 'zh-Hans');
  check(['zh'], 'zh-Hans');
  check(['zh-SG'], 'zh-Hans');
  check(['zh-TW'], 'zh-Hant');
  check(['zh-HK'], 'zh-Hant');
  check(['zh-Hant-CN'], 'zh-Hant');
  check(['de-DE', 'zh-TW', 'en'], 'zh-Hant');
  check(['de-DE'], 'en');
  check([], 'en');
});

test('no word is left empty in any language', () => {
  for (const { words } of languages) {
    expect(Object.entries(words).filter(([, word]) => word === '')).toEqual([]);
  }
});
