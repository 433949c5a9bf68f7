import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from './api/client';
import { Refresher, REFRESH_DEBOUNCE_MS } from './refresher';
import { ResponseOrder } from './responseOrder';

const busy = new ApiError('busy', 'Later.', 503);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a read that fails is repeated until it works, and not for ever', async () => {
  const read = vi.fn(() => Promise.resolve()).mockRejectedValueOnce(busy);
  await new Refresher(read).now();
  expect(read).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(read).toHaveBeenCalledTimes(2);
  const broken = vi.fn(() => Promise.reject(busy));
  await new Refresher(broken).now();
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(broken).toHaveBeenCalledTimes(6);
});

test('what the server refuses is not asked again', async () => {
  const check = async (error: unknown, calls: number) => {
    const read = vi.fn(() => Promise.resolve()).mockRejectedValueOnce(error);
    await new Refresher(read).now();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(read).toHaveBeenCalledTimes(calls);
  };
  await check(new ApiError('not_found', 'Gone.', 404), 1);
  await check(new ApiError('busy', 'Later.', 429), 2);
  await check(ApiError.noAnswer('no'), 2);
});

test('calls in a moment are one read, also in a steady stream of them', async () => {
  const read = vi.fn(() => Promise.resolve());
  const refresher = new Refresher(read);
  for (let count = 0; count < 100; count++) {
    refresher.soon();
    await vi.advanceTimersByTimeAsync(REFRESH_DEBOUNCE_MS / 10);
  }
  expect(read.mock.calls.length).toBeGreaterThanOrEqual(9);
  expect(read.mock.calls.length).toBeLessThanOrEqual(10);
  refresher.soon();
  refresher.stop();
  const calls = read.mock.calls.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(read).toHaveBeenCalledTimes(calls);
});

test('there is one retry at a time, and none after the end', async () => {
  const read = vi.fn(() => Promise.reject(busy));
  const refresher = new Refresher(read);
  await Promise.all([refresher.now(), refresher.now(), refresher.now()]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(read).toHaveBeenCalledTimes(4);
  const last = refresher.now();
  refresher.stop();
  await last;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(read).toHaveBeenCalledTimes(5);
});

test('the newest response wins, in whatever order they arrive', () => {
  const order = new ResponseOrder();
  const [first, second, third] = [order.send(), order.send(), order.send()];
  expect([second(), first(), third()]).toEqual([true, false, true]);
  const late = order.send();
  expect([order.discard(), late()]).toEqual([true, false]);
  expect(order.discard()).toBe(false);
});
