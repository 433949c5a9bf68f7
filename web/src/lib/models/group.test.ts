import { errorDetail } from '$lib/i18n/errorFixture';
import { expect, test } from 'vitest';
import type { EndpointView, ModelView } from '$lib/api/types';
import { filterByText, groupModels, suggestedModels, type ModelGroup } from './group';
import { modelView } from './fixtures';

const models = [
  modelView('llama3.2', { origin: 'local', endpoint: 'Ollama' }),
  modelView('gpt-x', { origin: 'environment', endpoint: 'OpenAI' }),
  modelView('mine', { model: 'deepseek-chat' }),
  modelView('builtin', { origin: 'builtin' }),
  modelView('claude-y', { origin: 'environment', endpoint: 'Anthropic' }),
  modelView('phi', { origin: 'local', endpoint: 'LM Studio' }),
  modelView('gemma', { origin: 'local', endpoint: 'Ollama' }),
];
const endpoint = (name: string, why?: string): EndpointView => ({
  id: name,
  name,
  origin: 'environment',
  provider: 'openai',
  baseUrl: 'https://example.com/v1',
  models: 0,
  error: why === undefined ? undefined : errorDetail(why),
});
const names = (groups: ModelGroup[]) =>
  groups.map(({ kind, name, models }) => [name || kind, ...models.map(({ name }) => name)]);

test('models stand under where they come from', () => {
  expect(names(groupModels(models, []))).toEqual([
    ['builtin', 'builtin'],
    ['added', 'mine'],
    ['OpenAI', 'gpt-x'],
    ['Anthropic', 'claude-y'],
    ['local', 'phi', 'gemma', 'llama3.2'],
  ]);
});

test('whether endpoints are mixed does not change with the filter', () => {
  const mixed = (models: ModelView[], filter: string) =>
    groupModels(models, [], filter).find(({ kind }) => kind === 'local')?.mixed;
  expect(mixed(models, '')).toBe(true);
  expect(mixed(models, 'phi')).toBe(true);
  expect(mixed(models.slice(0, 1), '')).toBe(false);
});

test('an endpoint that offers nothing says why, in its own group', () => {
  const groups = groupModels(models.slice(3, 5), [
    endpoint('OpenAI', 'The key was refused.'),
    endpoint('Anthropic'),
  ]);
  expect(
    groups.map(({ name, kind, problems }) => [name || kind, problems[0]?.error?.message]),
  ).toEqual([
    ['builtin', undefined],
    ['Anthropic', undefined],
    ['OpenAI', 'The key was refused.'],
  ]);
});

test('a filter looks at names, ids and endpoints, and leaves problems out', () => {
  const check = (filter: string, ...expected: string[][]) =>
    expect(names(groupModels(models, [endpoint('OpenAI', 'No.')], filter))).toEqual(expected);
  check('deep CHAT', ['added', 'mine']);
  check('ollama', ['local', 'gemma', 'llama3.2']);
  check('nothing like it');
});

test('a filter knows the words of the page too', () => {
  const nameOf = () => '内置助手';
  expect(names(groupModels(models.slice(3, 4), [], '内置', nameOf))).toEqual([
    ['builtin', 'builtin'],
  ]);
});

test('what is suggested is what was added, then what runs here, and can be asked', () => {
  const broken = modelView('broken', { unusable: errorDetail('Its key cannot be read.') });
  expect(names(suggestedModels([...models, broken]))).toEqual([
    ['added', 'mine'],
    ['local', 'phi', 'gemma', 'llama3.2'],
    ['OpenAI', 'gpt-x'],
    ['Anthropic', 'claude-y'],
  ]);
});

test('anything can be filtered by its text', () => {
  const check = (filter: string, ...expected: string[]) =>
    expect(filterByText(['gpt-x', 'gpt-x-mini', 'o9'], filter, (item) => item)).toEqual(expected);
  check('', 'gpt-x', 'gpt-x-mini', 'o9');
  check('mini GPT', 'gpt-x-mini');
});
