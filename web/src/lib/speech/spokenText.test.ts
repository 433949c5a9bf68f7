import { expect, test } from 'vitest';
import { languageOf, speechPieces, spokenText, voiceFor } from './spokenText';

test('what is read aloud has no code, markup or addresses', () => {
  const check = (markdown: string, expected: string) =>
    expect(spokenText(markdown)).toBe(expected);
  check('Hello **you** and *me*.', 'Hello you and me.');
  check('# Title\n\nText', 'Title\nText');
  check('Before\n```js\nconst a = 1;\n```\nAfter', 'Before\nAfter');
  check('Before\n~~~\ncode\n~~~\nAfter', 'Before\nAfter');
  check('Before\n```js\nunfinished', 'Before');
  check('Run `ls` now', 'Run ls now');
  check('- one\n- [x] two\n1. three', 'one\ntwo\nthree');
  check('See [the page](https://x.test/a) or https://y.test/b here', 'See the page or here');
  check('![a cat](https://x.test/cat.png)', 'a cat');
  check('Note[^1] that', 'Note that');
  check('Sum:\n$$\\sum_i x_i$$\ndone', 'Sum:\ndone');
  check('snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4');
  check('<b>bold</b> text', 'bold text');
  check('|a|b|\n|---|---|\n|1|2|', ', a, b,\n, 1, 2,');
});

test('long text is spoken in pieces that end with sentences', () => {
  expect(speechPieces('One. Two! Three?')).toEqual(['One. Two! Three?']);
  const sentence = `${'word '.repeat(30).trim()}.`;
  expect(speechPieces(`${sentence} ${sentence}`)).toEqual([sentence, sentence]);
  expect(speechPieces('Hello there. 你好，世界。再见。')).toEqual(['Hello there.', '你好，世界。再见。']);
  const endless = 'a'.repeat(400);
  expect(speechPieces(endless).join('')).toBe(endless);
  for (const piece of speechPieces('字'.repeat(1000))) expect(piece.length).toBeLessThanOrEqual(180);
  expect(speechPieces('')).toEqual([]);
});

test('the language of a piece is told by its script', () => {
  const check = (text: string, page: string, expected: string) =>
    expect(languageOf(text, page)).toBe(expected);
  check('Hello', 'en', 'en');
  check('Hello', 'zh-Hans', 'en-US');
  check('你好', 'en', 'zh-CN');
  check('你好', 'zh-Hant', 'zh-TW');
  check('こんにちは、世界', 'en', 'ja');
  check('안녕', 'en', 'ko');
  check('42', 'zh-Hans', 'zh-CN');
});

test('a voice speaks the language, of the region where there is one', () => {
  const voice = (lang: string, isDefault = false) => ({ lang, default: isDefault });
  const voices = [voice('en-GB'), voice('en-US', true), voice('zh_TW'), voice('zh-CN')];
  const check = (tag: string, expected: string | undefined) =>
    expect(voiceFor(voices, tag)?.lang).toBe(expected);
  check('zh-TW', 'zh_TW');
  check('zh-HK', 'zh_TW');
  check('en', 'en-US');
  check('en-GB', 'en-GB');
  check('fr', undefined);
});
