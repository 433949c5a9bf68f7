import { expect, test } from 'vitest';
import { CHUNK_CHARS, textChunks } from './chunks';
import { isShortJson, parseJson, shortJson } from './json';
import { jsonTable, tableCsv } from './table';

test('text that is JSON is read, other text is not', () => {
  expect(parseJson(' [1]')).toEqual([1]);
  expect(parseJson('{"a": 1}')).toEqual({ a: 1 });
  expect(parseJson('{"a": 1')).toBeUndefined();
  expect(parseJson('12')).toBeUndefined();
  expect(parseJson('[1] and more')).toBeUndefined();
});

test('a value is told in one line, however large it is', () => {
  const check = (value: unknown, expected: string) => expect(shortJson(value, 60)).toBe(expected);
  check({}, '{}');
  check([1, 'a', null], '[1, "a", null]');
  check({ a: { b: { c: 1 } } }, '{a: {b: {…}}}');
  check([1, 2, 3, 4, 5], '[1, 2, 3, 4, …]');
  check('x'.repeat(1e6), `"${'x'.repeat(59)}`);
  expect(shortJson(Array.from({ length: 1e6 }), 60).length).toBeLessThan(61);
});

test('short JSON is told from long without reading all of it', () => {
  const check = (value: unknown, expected: boolean) =>
    expect(isShortJson(value, 60), shortJson(value, 60)).toBe(expected);
  check({ timezone: 'Asia/Tokyo' }, true);
  check([1, 2, 3], true);
  check({ items: [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }, { a: 5 }, { a: 6 }, { a: 7 }] }, false);
  check('x'.repeat(100), false);
  check(
    Array.from({ length: 1e6 }, () => []),
    false,
  );
  let deep: unknown = 1;
  for (let depth = 0; depth < 1e5; depth += 1) deep = [deep];
  check(Object.assign([], { 0: 1 }), true);
  expect(isShortJson(deep, 60)).toBe(false);
});

test('an array of objects is a table, also as the only array of an object', () => {
  const rows = [
    { a: 1, b: 'x' },
    { a: 2, c: { d: [1] } },
  ];
  expect(jsonTable(rows)).toEqual({ columns: ['a', 'b', 'c'], rows, hasMoreColumns: false });
  expect(jsonTable({ total: 2, items: rows })?.rows).toBe(rows);
  for (const none of [[], [{}], [1], [{ a: 1 }, 2], { a: 1 }, { a: rows, b: rows }, null, 'x']) {
    expect(jsonTable(none), JSON.stringify(none)).toBeUndefined();
  }
});

test('a table is copied for spreadsheets, and runs nothing there', () => {
  const table = jsonTable([
    { n: -1, 'a,b': '=1+1' },
    { n: null, 'a,b': 'say "hi"' },
  ]);
  expect(table && tableCsv(table)).toBe('n,"a,b"\r\n-1,\'=1+1\r\n,"say ""hi"""\r\n');
});

test('long text is cut at its lines, and nothing of it is lost', () => {
  const line = `${'word '.repeat(20)}\n`;
  const text = line.repeat(3000);
  const { chunks, rest } = textChunks(text, 2);
  expect(chunks.length).toBe(2);
  expect(chunks.every((chunk) => chunk.endsWith('\n'))).toBe(true);
  expect(chunks.join('').length + rest).toBe(text.length);
  expect(textChunks(text, 1e9).chunks.join('')).toBe(text);
  const wide = `${'a'.repeat(CHUNK_CHARS - 1)}😀b`;
  expect(textChunks(wide, 9).chunks).toEqual(['a'.repeat(CHUNK_CHARS - 1), '😀b']);
});
