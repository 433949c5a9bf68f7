import { afterEach, expect, test, vi } from 'vitest';
import { claimCall } from './callClaims';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a database that never opens holds up no call', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('indexedDB', { open: () => ({}) });
  const mine = claimCall('c1');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await mine).toBe(true);
});
