import { expect, test } from 'vitest';
import { entriesOf, entryProblem, schemaFields, valuesOf } from './schemaForm';

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer', default: 3, minimum: 1 },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
    also: { type: ['number', 'null'] },
    unit: { $ref: '#/$defs/Unit' },
    loud: { type: 'boolean', default: true },
    names: { type: 'array', items: { type: 'string' }, default: ['a', 'b'] },
    tags: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
    key: { type: 'string', input: { type: 'password' } },
    extra: { type: 'object', default: { a: 1 } },
    anything: {},
  },
  required: ['text'],
  $defs: { Unit: { type: 'string', enum: ['metric', 'imperial'], title: 'Unit' } },
};

test('each property gets the field that fits it', () => {
  const fields = schemaFields(schema).map(({ input, field }) => [
    field.name,
    input,
    input === 'plain' ? field.kind : field.initial,
  ]);
  expect(fields).toEqual([
    ['text', 'plain', 'text'],
    ['count', 'plain', 'number'],
    ['maybe', 'plain', 'number'],
    ['also', 'plain', 'number'],
    ['unit', 'plain', 'one'],
    ['loud', 'plain', 'yes'],
    ['names', 'lines', 'a\nb'],
    ['tags', 'plain', 'some'],
    ['key', 'secret', ''],
    ['extra', 'json', '{\n  "a": 1\n}'],
    ['anything', 'json', ''],
  ]);
});

test('what was filled in becomes values, and what was left empty does not', () => {
  const fields = schemaFields(schema);
  const entries = new Map([...entriesOf(fields), ['text', 'hi'], ['names', 'c\n\n d '] as const]);
  expect(valuesOf(fields, entries)).toEqual({
    text: 'hi',
    count: 3,
    loud: true,
    names: ['c', 'd'],
    extra: { a: 1 },
  });
});

test('what was saved stands in the form, and comes back as it was', () => {
  const saved = {
    text: 'hi',
    count: 7,
    unit: 'imperial',
    loud: false,
    names: ['z'],
    tags: ['y'],
    key: 'secret',
    extra: [1],
    anything: 'text',
  };
  const fields = schemaFields(schema);
  expect(valuesOf(fields, entriesOf(fields, saved))).toEqual(saved);
});

test('what cannot be sent is known', () => {
  const fields = schemaFields(schema);
  const check = (name: string, entry: string, expected: string | undefined) => {
    const field = fields.find(({ field }) => field.name === name);
    expect(field && entryProblem(field, entry)?.kind).toBe(expected);
  };
  check('text', '', 'missing');
  check('count', '0', 'atLeast');
  check('maybe', '', undefined);
  check('extra', '{', 'notJson');
  check('extra', '', undefined);
  check('anything', '"text"', undefined);
});

test('a schema without properties asks nothing', () => {
  expect(schemaFields(undefined)).toEqual([]);
  expect(schemaFields({ type: 'object' })).toEqual([]);
  expect(
    schemaFields({
      properties: { loop: { $ref: '#/$defs/a' } },
      $defs: { a: { $ref: '#/$defs/a' } },
    }),
  ).toHaveLength(1);
});
