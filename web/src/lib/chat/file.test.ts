import { expect, test } from 'vitest';
import { fileName, readExport } from './file';

test('a file is named as its chat, in a way that every system takes', () => {
  const check = (title: string, expected: string) => expect(fileName(title, 'json')).toBe(expected);
  check('Launch notes', 'Launch notes.json');
  check('东京时间', '东京时间.json');
  check('a/b: "c"?\n', 'a b c.json');
  check('...', 'chat.json');
  check('🗼'.repeat(100), `${'🗼'.repeat(80)}.json`);
  expect(fileName('x', 'markdown')).toBe('x.md');
});

test('only what Tenon exported is a chat', async () => {
  const check = async (text: string, expected: unknown) =>
    expect(await readExport(new File([text], 'x.json'))).toEqual(expected);
  await check('{"format":"tenon.chat","version":1}', { format: 'tenon.chat', version: 1 });
  await check('{"format":"other"}', undefined);
  await check('null', undefined);
  await check('not JSON', undefined);
});
