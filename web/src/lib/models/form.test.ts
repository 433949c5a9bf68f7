import { describe, expect, test } from 'vitest';
import type { ModelView } from '$lib/api/types';
import {
  modelChangeOf,
  chooseFormat,
  chooseOffered,
  choosePreset,
  discoverBody,
  emptyModelForm,
  modelFieldOf,
  modelFormOf,
  needsTest,
  newModel,
  OTHER_PROVIDER,
  presets,
  modelFormProblems,
  takeDiscovered,
  typeAddress,
  type ModelForm,
} from './form';
import { modelView } from './fixtures';

const fill = (change: Partial<ModelForm>): ModelForm => ({ ...emptyModelForm(false), ...change });
const saved = modelView('m1', {
  name: 'My GPT',
  provider: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  model: 'gpt-x',
  hasKey: true,
  parameters: { temperature: 0.2 },
  contextTokens: 128_000,
  prices: { currency: 'USD', input: 3, output: 15, cacheRead: 0.3 },
});

test('a field that the server refuses is the one in the form, where the form has it', () => {
  const check = (field: string, expected: string | undefined, model?: ModelView) =>
    expect(modelFieldOf(field, fill({}), model)).toBe(expected);
  for (const field of ['baseUrl', 'key', 'model', 'name', 'contextTokens']) check(field, field);
  check('prices', 'currency');
  check('toolMode', undefined);
  check('baseUrl', undefined, modelView('m', { origin: 'local' }));
  expect(modelFieldOf('key', fill({ removeKey: true }), saved)).toBeUndefined();
});

describe('a preset', () => {
  test('fills address and format', () => {
    const check = (id: string, baseUrl: string, provider: string | undefined) =>
      expect(choosePreset(emptyModelForm(false), id)).toMatchObject({
        preset: id,
        baseUrl,
        provider,
      });
    for (const { id, baseUrl, provider } of presets) check(id, baseUrl, provider);
    check(OTHER_PROVIDER, '', undefined);
  });

  test('is recognised by its address, and left by another one', () => {
    const check = (baseUrl: string, preset: string, provider: string | undefined) =>
      expect(typeAddress(emptyModelForm(false), baseUrl)).toMatchObject({ preset, provider });
    check('https://api.anthropic.com/', 'anthropic', 'anthropic');
    check(' http://localhost:11434/v1 ', 'ollama', 'openai');
    check('http://example.com/v1', OTHER_PROVIDER, undefined);
  });

  test('of another server does not get the key that was typed', () => {
    const form = fill({ key: 'sk-1' });
    expect(choosePreset(form, 'anthropic').key).toBe('');
    expect(choosePreset(form, OTHER_PROVIDER).key).toBe('');
    const here = typeAddress(form, 'http://localhost:11434');
    expect(choosePreset(here, 'ollama').key).toBe('sk-1');
  });

  test('of another format has no constrained answers', () => {
    const form = fill({ toolMode: 'constrained' });
    expect(choosePreset(form, 'ollama').toolMode).toBe('constrained');
    expect(choosePreset(form, 'anthropic').toolMode).toBe('auto');
    expect(chooseFormat(form, 'anthropic').toolMode).toBe('auto');
    expect(chooseFormat(form, 'responses').toolMode).toBe('auto');
  });
});

describe('looking what an address offers', () => {
  test('uses the key that was typed, else the one that is stored, else none', () => {
    const check = (change: Partial<ModelForm>, expected: object) =>
      expect(discoverBody({ ...modelFormOf(saved), ...change }, saved)).toEqual({
        baseUrl: 'https://api.openai.com/v1',
        provider: 'openai',
        ...expected,
      });
    check({}, { modelId: 'm1' });
    check({ key: ' sk-1 ' }, { key: 'sk-1' });
    check({ removeKey: true }, {});
    check(
      { baseUrl: 'https://api.openai.com' },
      { baseUrl: 'https://api.openai.com', modelId: 'm1' },
    );
    check({ baseUrl: 'https://elsewhere.com' }, { baseUrl: 'https://elsewhere.com' });
    expect(discoverBody(fill({ preset: OTHER_PROVIDER, provider: undefined }), undefined)).toEqual({
      baseUrl: 'https://api.openai.com/v1',
      provider: undefined,
    });
  });

  test('puts address and format right', () => {
    const form = typeAddress(emptyModelForm(false), 'http://localhost:11434');
    expect(
      takeDiscovered(form, {
        provider: 'openai',
        baseUrl: 'http://localhost:11434/v1',
        models: [],
      }),
    ).toMatchObject({ preset: 'ollama', baseUrl: 'http://localhost:11434/v1', provider: 'openai' });
  });

  test('fills in what a model says of itself, and leaves what a person wrote', () => {
    const a = { model: 'a', contextTokens: 8_000 };
    const b = { model: 'b' };
    const first = chooseOffered(emptyModelForm(false), a, undefined);
    expect(first).toMatchObject({ model: 'a', contextTokens: '8000' });
    expect(chooseOffered(first, b, a)).toMatchObject({ model: 'b', contextTokens: '' });
    const own = chooseOffered({ ...first, contextTokens: '4096' }, b, a);
    expect(own).toMatchObject({ model: 'b', contextTokens: '4096' });
  });
});

test('what is wrong is said at its field', () => {
  const good = { model: 'gpt-x' };
  const check = (change: Partial<ModelForm>, expected: object, model?: ModelView) =>
    expect(modelFormProblems(fill({ ...good, ...change }), model)).toEqual(expected);
  check({}, {});
  check({ model: ' ' }, { model: 'missing' });
  check({ baseUrl: '' }, { baseUrl: 'missing' });
  check({ baseUrl: '', model: '' }, {}, modelView('m1', { origin: 'local' }));
  check({ parameters: '{"temperature": 0.2}' }, {});
  check({ parameters: '{temperature: 0.2}' }, { parameters: 'notJson' });
  check({ parameters: '[1]' }, { parameters: 'notJson' });
  check({ parameters: 'null' }, { parameters: 'notJson' });
  for (const name of ['messages', 'model', 'stream', 'tools']) {
    check({ parameters: `{"${name}": 1, "seed": 2}` }, { parameters: 'reserved' });
  }
  check({ parameters: '{"stream_options": {}}' }, {});
  const elsewhere = { baseUrl: 'https://elsewhere.com/v1' };
  check(elsewhere, { key: 'keyAgain' }, saved);
  check({ ...elsewhere, key: 'sk-2' }, {}, saved);
  check({ ...elsewhere, removeKey: true }, {}, saved);
  check(elsewhere, {}, { ...saved, hasKey: false });
  check({ contextTokens: '128000' }, {});
  check({ contextTokens: '0' }, { contextTokens: 'notCount' });
  check({ contextTokens: '1.5' }, { contextTokens: 'notCount' });
  check({ contextTokens: '128k' }, { contextTokens: 'notCount' });
  check({ currency: 'USD', input: '3', output: '.5' }, {});
  check({ currency: 'USD' }, { input: 'missing', output: 'missing' });
  check({ input: '3', output: '15' }, { currency: 'missing' });
  check({ currency: 'USD', input: '-3', output: '1e3' }, { input: 'notPrice', output: 'notPrice' });
  check({ currency: 'USD', input: '3', output: '15', cacheRead: 'x' }, { cacheRead: 'notPrice' });
});

describe('saving', () => {
  test('a new model says what was filled in and nothing else', () => {
    expect(newModel(fill({ model: ' gpt-x ' }))).toEqual({
      provider: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      model: 'gpt-x',
      parameters: {},
      toolMode: 'auto',
    });
    expect(
      newModel(
        fill({
          model: 'gpt-x',
          name: 'Mine',
          key: 'sk-1',
          parameters: '{"temperature":0}',
          contextTokens: '8000',
          currency: 'CNY',
          input: '2',
          output: '8',
          cacheWrite: '0',
          isDefault: true,
        }),
      ),
    ).toEqual({
      name: 'Mine',
      provider: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      key: 'sk-1',
      model: 'gpt-x',
      parameters: { temperature: 0 },
      toolMode: 'auto',
      contextTokens: 8000,
      prices: { currency: 'CNY', input: 2, output: 8, cacheWrite: 0 },
      isDefault: true,
    });
  });

  test('a change says only what differs', () => {
    const check = (change: Partial<ModelForm>, expected: object) =>
      expect(modelChangeOf({ ...modelFormOf(saved), ...change }, saved)).toEqual(expected);
    check({}, {});
    check({ name: 'Other' }, { name: 'Other' });
    check({ name: '' }, { name: 'gpt-x' });
    check({ key: 'sk-2' }, { key: 'sk-2' });
    check({ removeKey: true }, { key: '' });
    check({ contextTokens: '' }, { contextTokens: null });
    check({ parameters: '' }, { parameters: {} });
    check({ currency: '', input: '', output: '', cacheRead: '' }, { prices: null });
    check({ cacheRead: '' }, { prices: { currency: 'USD', input: 3, output: 15 } });
    check({ isDefault: true }, { isDefault: true });
  });

  test('of a model that an endpoint offers leaves address and key alone', () => {
    const offered = { ...saved, origin: 'local' as const, hasKey: false };
    const form = {
      ...modelFormOf(offered),
      baseUrl: 'x',
      key: 'sk',
      model: 'y',
      toolMode: 'native',
    };
    expect(modelChangeOf(form as ModelForm, offered)).toEqual({ toolMode: 'native' });
  });

  test('is followed by a test only where it can have broken something', () => {
    const check = (change: object, expected: boolean) => expect(needsTest(change)).toBe(expected);
    check({}, false);
    check({ name: 'x', prices: null, isDefault: true, contextTokens: 1 }, false);
    check({ key: '' }, true);
    check({ toolMode: 'native' }, true);
    check({ name: 'x', parameters: {} }, true);
  });
});
