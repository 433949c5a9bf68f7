import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api } from '$lib/api/client';
import type { SearchHit } from '$lib/api/types';
import { ChatSearch, SEARCH_DEBOUNCE_MS } from './search.svelte';

const hit = (chatId: string) => ({ chatId }) as unknown as SearchHit;
const found = (search: ChatSearch) => search.hits?.map(({ chatId }) => chatId);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('the server is asked when the typing pauses, for all of it at once', async () => {
  const ask = vi.spyOn(api, 'search').mockResolvedValue([hit('a')]);
  const search = new ChatSearch();
  for (const text of ['東', '東京', ' 東京時間 ']) search.for(text);
  expect(search.searching).toBe(true);
  await vi.advanceTimersByTimeAsync(SEARCH_DEBOUNCE_MS);
  expect(ask.mock.calls.map(([words]) => words)).toEqual(['東京時間']);
  expect(found(search)).toEqual(['a']);
  expect(search.searching).toBe(false);
});

test('an answer to earlier words is dropped', async () => {
  let answerLate = (_: SearchHit[]) => {};
  vi.spyOn(api, 'search')
    .mockReturnValueOnce(new Promise((resolve) => (answerLate = resolve)))
    .mockResolvedValue([hit('new')]);
  const search = new ChatSearch();
  search.for('old');
  await vi.advanceTimersByTimeAsync(SEARCH_DEBOUNCE_MS);
  search.for('new');
  await vi.advanceTimersByTimeAsync(SEARCH_DEBOUNCE_MS);
  answerLate([hit('old')]);
  await vi.advanceTimersByTimeAsync(0);
  expect(found(search)).toEqual(['new']);
});

test('nothing to look for finds nothing and asks nobody', async () => {
  const ask = vi.spyOn(api, 'search').mockResolvedValue([hit('a')]);
  const search = new ChatSearch();
  search.for('tokyo');
  search.for('  ');
  await vi.advanceTimersByTimeAsync(2 * SEARCH_DEBOUNCE_MS);
  expect(ask).not.toHaveBeenCalled();
  expect([search.hits, search.searching]).toEqual([undefined, false]);
});

test('what went wrong is kept until other words are looked for', async () => {
  const no = new Error('no');
  vi.spyOn(api, 'search').mockRejectedValue(no);
  const search = new ChatSearch();
  search.for('tokyo');
  await vi.advanceTimersByTimeAsync(SEARCH_DEBOUNCE_MS);
  expect([search.failure, search.searching]).toEqual([no, false]);
  search.for('paris');
  expect(search.failure).toBeUndefined();
});
