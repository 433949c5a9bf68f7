import { expect, test } from 'vitest';
import {
  addressPieces,
  elicitationContent,
  elicitationFields,
  initialValues,
  elicitationProblem,
  type ElicitationValue,
  type ElicitationField,
} from './elicitation';

const one = (schema: unknown, required = false): ElicitationField => {
  const whole = { type: 'object', properties: { it: schema }, required: required ? ['it'] : [] };
  const [field] = elicitationFields(whole);
  if (!field) throw new Error('no field');
  return field;
};
const common = { name: 'it', label: 'it', hint: '', required: false };

test('every kind of property becomes a field', () => {
  const check = (schema: unknown, expected: object) =>
    expect(one(schema)).toEqual({ ...common, ...expected });
  check({ type: 'string' }, { kind: 'text', format: 'plain', initial: '' });
  check(
    { type: 'string', title: 'Mail', description: 'Yours', format: 'email', default: 'a@b' },
    { label: 'Mail', hint: 'Yours', kind: 'text', format: 'email', initial: 'a@b' },
  );
  check({ type: 'string', format: 'ipv9' }, { kind: 'text', format: 'plain', initial: '' });
  check(
    { type: 'integer', minimum: 1, default: 3 },
    { kind: 'number', whole: true, minimum: 1, initial: '3' },
  );
  check({ type: 'number' }, { kind: 'number', whole: false, initial: '' });
  check({ type: 'boolean', default: true }, { kind: 'yes', initial: true });
  check(
    { type: 'string', enum: ['a', 'b'], enumNames: ['Ah'], default: 'b' },
    {
      kind: 'one',
      options: [
        { value: 'a', label: 'Ah' },
        { value: 'b', label: 'b' },
      ],
      initial: 'b',
    },
  );
  check(
    { type: 'string', oneOf: [{ const: 'a', title: 'Ah' }, { const: 'b' }], default: 'c' },
    {
      kind: 'one',
      options: [
        { value: 'a', label: 'Ah' },
        { value: 'b', label: 'b' },
      ],
      initial: '',
    },
  );
  check(
    {
      type: 'array',
      items: { anyOf: [{ const: 'a', title: 'Ah' }] },
      default: ['a', 'x'],
      minItems: 1,
    },
    { kind: 'some', options: [{ value: 'a', label: 'Ah' }], minItems: 1, initial: ['a'] },
  );
});

test('what is no schema has no fields, and what is odd is a text', () => {
  for (const schema of [undefined, null, 7, [], {}, { properties: [] }]) {
    expect(elicitationFields(schema)).toEqual([]);
  }
  for (const schema of [null, true, {}, { type: 'string', enum: 7, title: 5, minLength: 'x' }]) {
    expect(one(schema)).toEqual({ ...common, kind: 'text', format: 'plain', initial: '' });
  }
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, {}]));
  expect(elicitationFields({ properties: many })).toHaveLength(100);
  expect(one({ title: 'x'.repeat(5_000) }).label).toHaveLength(1_000);
});

test('what is wrong is said', () => {
  const check = (schema: unknown, entry: ElicitationValue, expected: unknown, required = false) =>
    expect(elicitationProblem(one(schema, required), entry)).toEqual(expected);
  check({ type: 'string' }, '', undefined);
  check({ type: 'string' }, ' ', { kind: 'missing' }, true);
  check({ type: 'string', minLength: 3 }, 'ab', { kind: 'tooShort', limit: 3 });
  check({ type: 'string', maxLength: 2 }, '👍👍', undefined);
  check({ type: 'string', maxLength: 2 }, 'abc', { kind: 'tooLong', limit: 2 });
  check({ type: 'string', format: 'email' }, 'ann', { kind: 'notEmail' });
  check({ type: 'string', format: 'email' }, 'ann@example.com', undefined);
  check({ type: 'string', format: 'uri' }, 'example', { kind: 'notUri' });
  check({ type: 'integer' }, '1.5', { kind: 'notWhole' });
  check({ type: 'number' }, '1,5', undefined);
  check({ type: 'number' }, 'one', { kind: 'notNumber' });
  check({ type: 'number' }, '1e999', { kind: 'notNumber' });
  check({ type: 'number', minimum: 0, maximum: 5 }, '-1', { kind: 'atLeast', limit: 0 });
  check({ type: 'number', minimum: 0, maximum: 5 }, '6', { kind: 'atMost', limit: 5 });
  check({ type: 'boolean' }, false, undefined, true);
  const some = { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 2, maxItems: 2 };
  check(some, [], undefined);
  check(some, ['a'], { kind: 'tooFew', limit: 2 });
  check(some, ['a', 'b', 'c'], { kind: 'tooMany', limit: 2 });
  check({ type: 'array', items: { enum: ['a'] } }, [], { kind: 'missing' }, true);
});

test('an answer holds what was filled in, as the schema wants it', () => {
  const fields = elicitationFields({
    properties: {
      name: { type: 'string' },
      empty: { type: 'string' },
      age: { type: 'integer' },
      size: { type: 'number' },
      sure: { type: 'boolean' },
      pick: { type: 'string', enum: ['a', 'b'] },
      none: { type: 'string', enum: ['a', 'b'] },
      several: { type: 'array', items: { enum: ['a', 'b'] } },
      nothing: { type: 'array', items: { enum: ['a', 'b'] } },
      at: { type: 'string', format: 'date-time', default: '2026-11-15T09:12:00Z' },
      mail: { type: 'string', format: 'email' },
    },
  });
  const filled: [string, ElicitationValue][] = [
    ['name', ' Ann '],
    ['age', '7'],
    ['size', '1,5'],
    ['pick', 'b'],
    ['several', ['a']],
    ['mail', ' a@b '],
  ];
  expect(elicitationContent(fields, new Map([...initialValues(fields), ...filled]))).toEqual({
    name: ' Ann ',
    age: 7,
    size: 1.5,
    sure: false,
    pick: 'b',
    several: ['a'],
    at: '2026-11-15T09:12:00.000Z',
    mail: 'a@b',
  });
});

test('a name that means something to JavaScript means nothing here', () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"},"constructor":{}}}');
  const fields = elicitationFields(schema);
  const entries = new Map<string, ElicitationValue>([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
  expect(JSON.stringify(elicitationContent(fields, entries))).toBe(
    '{"__proto__":"a","constructor":"b"}',
  );
});

test('the host of an address is told apart from what looks like one', () => {
  const check = (url: string, expected: [string, string, string] | undefined) => {
    const pieces = addressPieces(url);
    expect(pieces && [pieces.before, pieces.host, pieces.after]).toEqual(expected);
  };
  check('https://example.com/login?x=1#y', ['https://', 'example.com', '/login?x=1#y']);
  check('https://bank.com@evil.com/', ['https://bank.com@', 'evil.com', '/']);
  check('https://a:b@evil.com:8080', ['https://a:b@', 'evil.com:8080', '/']);
  check('https://bаnk.com', ['https://', 'xn--bnk-6cd.com', '/']);
  check('javascript:alert(1)', undefined);
  check('data:text/html,x', undefined);
  check('/here', undefined);
});
