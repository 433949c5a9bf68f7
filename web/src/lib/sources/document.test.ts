import { expect, test } from 'vitest';
import { firstLine, titleIn } from './document';

test('a document tells its title without being parsed', () => {
  const check = (text: string, expected: string) => expect(titleIn(text)).toBe(expected);
  check('{"openapi": "3.1.0", "info": {"version": "1", "title": "Pet, store"}}', 'Pet, store');
  check('swagger: "2.0"\ninfo:\n  version: 1\n  title: Pets # mine\n', 'Pets');
  check("openapi: 3.0.0\ninfo: {title: 'A: b'}", 'A: b');
  check('{"title": "of no document"}', '');
  check('', '');
});

test('a description is told by its first line', () => {
  expect(firstLine('\n Finds pets.\n\nAt length.')).toBe('Finds pets.');
});
