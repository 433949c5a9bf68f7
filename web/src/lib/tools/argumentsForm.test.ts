import { expect, test } from 'vitest';
import { ArgumentsForm } from './argumentsForm.svelte';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', default: 3 } },
  required: ['city'],
};

test('what is missing is not sent, and what was filled in is', () => {
  const form = new ArgumentsForm(schema);
  expect(form.value).toBeUndefined();
  form.entries = new Map(form.entries).set('city', 'Tokyo');
  expect(form.value).toEqual({ city: 'Tokyo', days: 3 });
});

test('what was filled in goes along to JSON and back', () => {
  const form = new ArgumentsForm(schema);
  form.entries = new Map(form.entries).set('city', 'Tokyo');
  form.mode = 'json';
  expect(JSON.parse(form.json)).toEqual({ city: 'Tokyo', days: 3 });
  form.json = '{"city": "Lima", "days": 1}';
  form.mode = 'form';
  expect(form.value).toEqual({ city: 'Lima', days: 1 });
});

test('JSON is sent as it is, if it is an object', () => {
  const form = new ArgumentsForm(schema);
  form.mode = 'json';
  const check = (json: string, expected: unknown) => {
    form.json = json;
    expect(form.value).toEqual(expected);
  };
  check('{"else": [1]}', { else: [1] });
  check('', {});
  check('[1]', undefined);
  check('{', undefined);
  check('null', undefined);
});

test('a schema that nobody could fill in is written as JSON', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, index) => [`p${index}`, { type: 'string' }]),
  );
  const form = new ArgumentsForm({ type: 'object', properties });
  expect([form.hasForm, form.mode, form.fields.length]).toEqual([false, 'json', 0]);
  form.mode = 'form';
  expect(form.mode).toBe('json');
  expect(new ArgumentsForm('nonsense').value).toEqual({});
});
