import { expect, test } from 'vitest';
import { fieldOfError } from './fieldOfError';

test('a sentence is about the field that it quotes', () => {
  const fields = [
    { field: 1, called: ['name', 'Your name'] },
    { field: 2, called: ['url'] },
    { field: 3, called: ['env'] },
    { field: 4, called: ['A very long label'] },
  ];
  const check = (sentence: string, expected: number | undefined) =>
    expect(fieldOfError(sentence, fields)).toBe(expected);
  check('`name` may hold letters, digits, `-` and `_`.', 1);
  check('“Your name” needs at least 2 characters.', 1);
  check('The address in `url` cannot be used; `name` can.', 2);
  check('`env.TOKEN` has no value.', 3);
  check('“A very…” is missing; fill it in.', 4);
  check('The name is taken.', undefined);
  check('There is no `environment`.', undefined);
  check('', undefined);
});
