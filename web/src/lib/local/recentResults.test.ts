import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClientFrame } from '$lib/api/types';
import { RecentResults } from './recentResults';

const MIB = 1024 * 1024;
const result = (call_id: string, length = 0): ClientFrame => ({
  type: 'tool:result',
  call_id,
  status: 200,
  headers: [],
  body: { type: 'text', text: 'x'.repeat(length) },
});
const ids = (results: RecentResults) =>
  results.recent().map((frame) => (frame.type === 'tool:result' ? frame.call_id : ''));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the latest are kept, as many as fit', () => {
  const results = new RecentResults();
  for (const id of ['a', 'b', 'c']) results.keep(result(id, 15 * MIB));
  expect(ids(results)).toEqual(['b', 'c']);
  results.keep(result('large', 40 * MIB));
  expect(ids(results)).toEqual(['large']);
});

test('they are kept for a minute, and none is left behind', () => {
  const results = new RecentResults();
  results.keep(result('a'));
  vi.advanceTimersByTime(30_000);
  results.keep(result('b'));
  vi.advanceTimersByTime(30_000);
  expect(ids(results)).toEqual(['b']);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(30_000);
  expect(ids(results)).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
