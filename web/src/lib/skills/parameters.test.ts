import { expect, test } from 'vitest';
import { parameterLines, typeName } from './parameters';

test('a type is named in a word or two', () => {
  const check = (schema: unknown, expected: string) => expect(typeName(schema)).toBe(expected);
  check({ type: 'integer' }, 'integer');
  check({ type: 'array', items: { type: 'string' } }, 'string[]');
  check({ type: 'array' }, 'array');
  check({ enum: ['a', 'b'] }, 'a | b');
  check({ enum: [1, 2, 3, 4, 5, 6, 7] }, '1 | 2 | 3 | 4 | 5 | 6 | …');
  check({ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null');
  check({ type: ['string', 'null'] }, 'string | null');
  check({}, 'any');
  check(true, 'any');
});

test('parameters are listed with what is needed', () => {
  const schema = {
    properties: { a: { type: 'string', description: 'The text.' }, b: { type: 'number' } },
    required: ['a'],
  };
  expect(parameterLines(schema)).toEqual([
    { name: 'a', type: 'string', isRequired: true, description: 'The text.' },
    { name: 'b', type: 'number', isRequired: false, description: '' },
  ]);
  expect(parameterLines({})).toEqual([]);
});
