import { expect, test } from 'vitest';
import { entranceWords } from './entrance/words';
import { language, languages, preferred } from './language.svelte';
import { modelsWords } from './models/words';
import { settingsWords } from './settings/words';
import { sharingWords } from './sharing/words';
import { toolsWords } from './tools/words';

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
  for (const { code, words: spoken } of languages) {
    language.use(code);
    const words = {
      ...spoken,
      ...entranceWords(),
      ...settingsWords(),
      ...modelsWords(),
      ...sharingWords(),
      ...toolsWords(),
    };
    expect(Object.entries(words).filter(([, word]) => word === '')).toEqual([]);
  }
});
