import { expect, test } from 'vitest';
import type { ModelRef } from '$lib/api/types';
import { chooseModel, defaultModel } from './choice';
import { modelView } from './story';

const builtin = modelView('builtin', { origin: 'builtin' });
const gpt = modelView('gpt', { isDefault: true });
const llama = modelView('llama', { origin: 'local' });
const models = [builtin, gpt, llama];
const info = { id: 'gpt', name: 'gpt', builtin: false };
const ref = (id: string): ModelRef => ({ id, name: id });

test('what was picked comes first, then who answered last, then the default', () => {
  const check = (
    picked: string | undefined,
    last: string | undefined,
    expected: [model: string, send?: string, missing?: string],
  ) => {
    const choice = chooseModel({
      models,
      info,
      picked: picked ? ref(picked) : undefined,
      last: last ? ref(last) : undefined,
    });
    expect([choice.model?.id, choice.send, choice.missing?.id]).toEqual([
      expected[0],
      expected[1],
      expected[2],
    ]);
  };
  check(undefined, undefined, ['gpt']);
  check(undefined, 'llama', ['llama', 'llama']);
  check(undefined, 'gpt', ['gpt']);
  check('llama', undefined, ['llama', 'llama']);
  check('llama', 'gpt', ['llama', 'llama']);
  // Who picks the default keeps it, even when another becomes the default.
  check('gpt', 'llama', ['gpt', 'gpt']);
  check('gone', undefined, ['gpt', undefined, 'gone']);
  check('gone', 'llama', ['gpt', undefined, 'gone']);
  check(undefined, 'gone', ['gpt', undefined, 'gone']);
});

test('before the list is there, what is wanted is asked for', () => {
  const check = (picked: string | undefined, last: string | undefined, expected: unknown) =>
    expect(
      chooseModel({
        models: undefined,
        info,
        picked: picked ? ref(picked) : undefined,
        last: last ? ref(last) : undefined,
      }),
    ).toEqual(expected);
  check(undefined, undefined, { model: info });
  check(undefined, 'gpt', { model: info, send: undefined });
  check('gpt', undefined, { model: info, send: 'gpt' });
  check('llama', undefined, { model: { ...ref('llama'), builtin: false }, send: 'llama' });
  check(undefined, 'llama', { model: { ...ref('llama'), builtin: false }, send: 'llama' });
});

test('the built-in assistant is the default where nothing else is', () => {
  expect(defaultModel([llama, builtin])).toBe(builtin);
  expect(defaultModel([])).toBeUndefined();
  expect(
    chooseModel({ models: [builtin], info, picked: undefined, last: undefined }).model,
  ).toEqual({ id: 'builtin', name: 'builtin', builtin: true });
});
