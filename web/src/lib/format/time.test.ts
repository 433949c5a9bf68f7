import { expect, test } from 'vitest';
import { localeFor } from './time';

test('times are written as in the region of the browser', () => {
  const check = (code: string, tags: string[], expected: string) =>
    expect(localeFor(code, tags)).toBe(expected);
  check('en', ['de-DE', 'en-GB'], 'en-GB');
  check('en', ['zh-CN'], 'en');
  check('zh-Hans', ['zh-SG', 'zh-CN'], 'zh-SG');
  check('zh-Hant', ['zh-CN', 'zh-HK'], 'zh-HK');
  check('zh-Hans', ['zh-TW'], 'zh-Hans');
});
