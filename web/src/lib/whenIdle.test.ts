import { afterEach, expect, test, vi } from 'vitest';
import { whenIdle } from './whenIdle';

afterEach(() => vi.unstubAllGlobals());

test('on a page that is never idle it happens all the same', async () => {
  // jsdom has none of its own.
  vi.stubGlobal('requestIdleCallback', (run: () => void, options?: IdleRequestOptions) => {
    if (options?.timeout) setTimeout(run);
  });
  await expect(whenIdle()).resolves.toBeUndefined();
});

test('a browser that does not know idle time does it soon', async () => {
  expect('requestIdleCallback' in window).toBe(false);
  await expect(whenIdle()).resolves.toBeUndefined();
});
