import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** Each test has a page of its own. */
async function load() {
  vi.resetModules();
  return import('./whenIdle');
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('it waits until people can write', async () => {
  const { markInteractive, whenIdle } = await load();
  const done = vi.fn();
  void whenIdle().then(done);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(done).not.toHaveBeenCalled();
  markInteractive();
  await vi.advanceTimersByTimeAsync(100);
  expect(done).toHaveBeenCalled();
});

test('where there is no field it happens all the same', async () => {
  const { whenIdle } = await load();
  const done = vi.fn();
  void whenIdle().then(done);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(done).toHaveBeenCalled();
});

test('so it does on a page that is never idle', async () => {
  // jsdom has none of its own.
  vi.stubGlobal('requestIdleCallback', (run: () => void, options?: IdleRequestOptions) => {
    if (options?.timeout) setTimeout(run, options.timeout);
  });
  const { markInteractive, whenIdle } = await load();
  const done = vi.fn();
  markInteractive();
  void whenIdle().then(done);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(done).toHaveBeenCalled();
});
