import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api } from '$lib/api/client';
import type { ModelView, TestFrame } from '$lib/api/types';
import { loadSetting, saveSetting } from '$lib/storage';
import { Models } from './models.svelte';
import { modelView } from './fixtures';

beforeEach(() => {
  localStorage.clear();
  vi.spyOn(api, 'models').mockResolvedValue([modelView('gpt')]);
  vi.spyOn(api, 'endpoints').mockResolvedValue([]);
});
afterEach(() => vi.restoreAllMocks());

test('what was picked belongs to its chat, and a new chat takes it along', () => {
  const models = new Models(undefined);
  models.pick({ id: 'gpt', name: 'GPT' });
  models.open('b');
  expect(models.picked).toBeUndefined();
  models.moveTo(undefined, 'a');
  models.open('a');
  expect(models.picked).toEqual({ id: 'gpt', name: 'GPT' });
  expect(loadSetting('model.new')).toBeUndefined();
  models.forget('a');
  expect(loadSetting('model.a')).toBeUndefined();
});

test('what was remembered wrongly is no choice', () => {
  for (const text of ['{', '[]', '{"id":"x"}', 'null']) {
    saveSetting('model.a', text);
    expect(new Models('a').picked).toBeUndefined();
  }
});

test('the list does without the endpoints, but not without itself', async () => {
  const models = new Models('a');
  vi.spyOn(api, 'endpoints').mockRejectedValue(new Error('no'));
  await models.refresh();
  expect([models.loaded, models.all.length]).toEqual([true, 1]);
  vi.spyOn(api, 'models').mockRejectedValue(new Error('no'));
  await models.refresh();
  expect([models.all.length, models.failure]).toEqual([1, new Error('no')]);
});

test('an answer that was overtaken is not believed', async () => {
  let answerFirst = (_: ModelView[]) => {};
  vi.spyOn(api, 'models')
    .mockReturnValueOnce(new Promise((resolve) => (answerFirst = resolve)))
    .mockResolvedValueOnce([modelView('new')]);
  const models = new Models('a');
  const first = models.refresh();
  await models.refresh();
  answerFirst([modelView('old')]);
  await first;
  expect(models.all.map(({ id }) => id)).toEqual(['new']);
});

test('a test is followed to its end', async () => {
  vi.spyOn(api, 'testModel').mockImplementation(async function* () {
    yield { type: 'text', text: 'Hi' } as TestFrame;
    yield { type: 'finished', ok: true, tools: 'native' } as TestFrame;
  });
  const models = new Models('a');
  await models.test('gpt');
  expect(models.modelTests.get('gpt')).toMatchObject({ state: 'passed', text: 'Hi' });
  expect(api.models).toHaveBeenCalled();
});

test('a test that breaks off has failed', async () => {
  const models = new Models('a');
  vi.spyOn(api, 'testModel').mockImplementation(async function* () {
    yield { type: 'text', text: 'Hi' } as TestFrame;
  });
  await models.test('gpt');
  expect(models.modelTests.get('gpt')).toEqual({ state: 'failed', text: 'Hi' });
  vi.spyOn(api, 'testModel').mockImplementation(async function* () {
    throw new Error('Tenon does not answer.');
  });
  await models.test('gpt');
  expect(models.modelTests.get('gpt')).toMatchObject({
    error: new Error('Tenon does not answer.'),
  });
});

test('a test can be stopped, and started again', async () => {
  let runs = 0;
  vi.spyOn(api, 'testModel').mockImplementation(async function* (_, signal) {
    runs += 1;
    if (runs > 1) {
      yield { type: 'finished', ok: true } as TestFrame;
      return;
    }
    yield { type: 'text', text: 'Hi' } as TestFrame;
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error())));
  });
  const models = new Models('a');
  const first = models.test('gpt');
  await vi.waitFor(() => expect(models.modelTests.get('gpt')?.text).toBe('Hi'));
  models.stop('gpt');
  await first;
  expect(models.modelTests.get('gpt')).toEqual({ state: 'stopped', text: 'Hi' });
  await models.test('gpt');
  expect(models.modelTests.get('gpt')?.state).toBe('passed');
});

test('a model that is removed takes its test along', async () => {
  const deleteModel = vi.spyOn(api, 'deleteModel').mockResolvedValue();
  vi.spyOn(api, 'testModel').mockImplementation(async function* () {
    yield { type: 'finished', ok: true } as TestFrame;
  });
  const models = new Models('a');
  await models.test('gpt');
  await models.remove('gpt');
  expect(deleteModel).toHaveBeenCalledWith('gpt');
  expect(models.modelTests.has('gpt')).toBe(false);
});
