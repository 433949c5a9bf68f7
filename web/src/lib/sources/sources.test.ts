import { errorDetail } from '$lib/i18n/errorFixture';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '$lib/api/client';
import { sources } from '$lib/api/sources';
import type { SourceDetail, SourceUpdate, SourceState } from '$lib/api/types';
import { REFRESH_DEBOUNCE_MS } from '$lib/refresher';
import { emitSourcesChange } from './events';
import { Sources } from './sources.svelte';

const detail = (id: string, state: SourceState = { state: 'ready' }, tools = 1) =>
  ({ id, name: id, tools, ...state }) as SourceDetail;
const news = (
  sourceId: string,
  state: SourceState,
  more: Partial<SourceUpdate> = {},
): SourceUpdate =>
  ({ sourceId, gone: false, tools: 9, revision: 1, ...state, ...more }) as SourceUpdate;

let stop = () => {};

async function open(...answers: SourceDetail[][]): Promise<Sources> {
  const asked = vi.spyOn(sources, 'all');
  for (const answer of answers) asked.mockResolvedValueOnce(answer);
  const all = new Sources();
  stop = all.start();
  await vi.advanceTimersByTimeAsync(0);
  return all;
}

const shown = (all: Sources) => all.items.map(({ id, state, tools }) => `${id} ${state} ${tools}`);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a change is shown at once, and the rest is asked for', async () => {
  const all = await open([detail('a', { state: 'starting' }, 0)], [detail('a', undefined, 9)]);
  expect(shown(all)).toEqual(['a starting 0']);
  emitSourcesChange(news('a', { state: 'ready' }));
  expect(shown(all)).toEqual(['a ready 9']);
  expect(sources.all).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(REFRESH_DEBOUNCE_MS);
  expect(sources.all).toHaveBeenCalledTimes(2);
  expect(shown(all)).toEqual(['a ready 9']);
});

test('a reason goes with the state it is for', async () => {
  const all = await open([detail('a', { state: 'failed', why: errorDetail('It died.') })]);
  emitSourcesChange(news('a', { state: 'ready' }));
  expect(all.items[0]).not.toHaveProperty('why');
});

test('many changes are one question', async () => {
  await open([detail('a')], [detail('a')]);
  for (let count = 0; count < 50; count++) emitSourcesChange(news('a', { state: 'starting' }));
  await vi.advanceTimersByTimeAsync(REFRESH_DEBOUNCE_MS * 3);
  expect(sources.all).toHaveBeenCalledTimes(2);
});

test('one that is gone goes, and one that is new comes', async () => {
  const all = await open([detail('a'), detail('b')], [detail('b'), detail('c')]);
  emitSourcesChange(news('a', { state: 'off' }, { gone: true }));
  expect(shown(all)).toEqual(['b ready 1']);
  emitSourcesChange(news('c', { state: 'starting' }));
  await vi.advanceTimersByTimeAsync(REFRESH_DEBOUNCE_MS);
  expect(shown(all)).toEqual(['b ready 1', 'c ready 1']);
});

test('what was said while a list was on its way lies over it', async () => {
  const all = await open([detail('a')]);
  let answer = (_: SourceDetail[]) => {};
  vi.spyOn(sources, 'all').mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  const asked = all.refresh();
  emitSourcesChange(news('a', { state: 'failed', why: errorDetail('It died.') }));
  answer([detail('a')]);
  await asked;
  expect(shown(all)).toEqual(['a failed 9']);
});

test('after an absence everything is asked for', async () => {
  const all = await open([detail('a')], [detail('b')]);
  emitSourcesChange();
  await vi.advanceTimersByTimeAsync(REFRESH_DEBOUNCE_MS);
  expect(shown(all)).toEqual(['b ready 1']);
});

test('a list that cannot be read is read again, and what was said stands meanwhile', async () => {
  const all = await open([detail('a', { state: 'starting' }, 0)]);
  const asked = vi.spyOn(sources, 'all').mockRejectedValueOnce(new ApiError('busy', 'No.', 503));
  asked.mockResolvedValueOnce([detail('a', undefined, 3)]);
  emitSourcesChange(news('a', { state: 'ready' }));
  await vi.advanceTimersByTimeAsync(REFRESH_DEBOUNCE_MS);
  expect(shown(all)).toEqual(['a ready 9']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(shown(all)).toEqual(['a ready 3']);
});
