import { expect, test } from 'vitest';
import { textHeight } from './turnHeight';

test('long lines are several, and empty ones small', () => {
  const check = (text: string, expected: number) => expect(textHeight(text)).toBe(expected);
  check('', 0);
  check('one', 26);
  check('one\ntwo\n', 52);
  check('one\n\ntwo', 65);
  check('x'.repeat(91), 52);
});
