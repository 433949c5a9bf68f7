import { expect, test } from 'vitest';
import { authMessages } from './auth/messages';
import { language, languages, preferred } from './language.svelte';
import { modelsMessages } from './models/messages';
import { settingsMessages } from './settings/messages';
import { sharingMessages } from './sharing/messages';
import { toolsMessages } from './tools/messages';

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
  for (const { code, messages } of languages) {
    language.use(code);
    const words = {
      ...messages,
      ...authMessages(),
      ...settingsMessages(),
      ...modelsMessages(),
      ...sharingMessages(),
      ...toolsMessages(),
    };
    expect(Object.entries(words).filter(([, word]) => word === '')).toEqual([]);
  }
});

test('a language that is chosen in another tab is spoken here, too', () => {
  language.use('en');
  language.start();
  localStorage.setItem('tenon.language', 'zh-Hant');
  dispatchEvent(new StorageEvent('storage', { key: 'tenon.language' }));
  expect(language.code).toBe('zh-Hant');
  localStorage.removeItem('tenon.language');
  dispatchEvent(new StorageEvent('storage', { key: 'tenon.language' }));
  expect(language.code).toBe('zh-Hant');
  language.use('en');
});
