import { expect, test } from 'vitest';
import type { EndpointView, ModelRef, ModelView } from '$lib/api/types';
import { chooseModel, defaultModel } from './choice';
import { modelView } from './fixtures';

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
      endpoints: [],
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
        endpoints: [],
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

test('what ran on this computer is not replaced by what runs elsewhere without a choice', () => {
  const endpoint = (id: string, origin: 'environment' | 'local'): EndpointView => ({
    id,
    origin,
    name: id,
    provider: 'openai',
    baseUrl: '',
    models: 0,
  });
  const endpoints = [endpoint('openai', 'environment'), endpoint('lmstudio', 'local')];
  const check = (gone: string, fallback: ModelView, expected: true | undefined) =>
    expect(
      chooseModel({ models: [fallback], endpoints, info, picked: undefined, last: ref(gone) })
        .undecided,
    ).toBe(expected);
  const there = modelView('gpt', { isDefault: true, baseUrl: 'https://api.openai.com/v1' });
  const here = { ...there, baseUrl: 'http://localhost:8080/v1' };
  const fake = { ...there, baseUrl: 'http://localhost.example.com/v1' };
  check('ollama:llama3.2', there, true);
  check('lmstudio:phi', there, true);
  check('ollama:llama3.2', fake, true);
  check('ollama:llama3.2', here, undefined);
  check('ollama:llama3.2', builtin, undefined);
  check('openai:gpt-x', there, undefined);
  check('0199-added', there, undefined);
});

test('the built-in assistant is the default where nothing else is', () => {
  expect(defaultModel([llama, builtin])).toBe(builtin);
  expect(defaultModel([])).toBeUndefined();
  expect(
    chooseModel({ models: [builtin], endpoints: [], info, picked: undefined, last: undefined })
      .model,
  ).toEqual({ id: 'builtin', name: 'builtin', builtin: true });
});

test("an expert's model comes before who answered last, and after what was picked", () => {
  const check = (picked: string | undefined, ofExpert: string | undefined, expected: string) => {
    const known = { models, endpoints: [], info, last: ref('gpt') };
    const choice = chooseModel({ ...known, picked: picked ? ref(picked) : undefined, ofExpert });
    expect(choice.model?.id).toBe(expected);
  };
  check(undefined, 'llama', 'llama');
  check('builtin', 'llama', 'builtin');
  check(undefined, undefined, 'gpt');
});
