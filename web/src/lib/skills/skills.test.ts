import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { skills } from '$lib/api/skills';
import type { SkillView } from '$lib/api/types';
import { app } from '$lib/app.svelte';
import { REFRESH_DEBOUNCE_MS } from '$lib/refresher';
import { Skills } from './skills.svelte';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const skill = (state: string, progress?: string) => ({ id: 'x', state, progress }) as SkillView;

test('while one is set up the list is read again, and no longer', async () => {
  const asked = vi.spyOn(skills, 'all').mockResolvedValue([skill('starting', 'Collecting rich')]);
  const all = new Skills();
  const stop = all.start();
  await vi.advanceTimersByTimeAsync(4_100);
  expect([asked.mock.calls.length, all.items[0]?.progress]).toEqual([3, 'Collecting rich']);
  asked.mockResolvedValue([skill('ready')]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect([asked.mock.calls.length, all.items[0]?.state]).toEqual([4, 'ready']);
  stop();
});

test('a change that the socket tells of is read', async () => {
  const asked = vi.spyOn(skills, 'all').mockResolvedValue([]);
  const stop = new Skills().start();
  await vi.advanceTimersByTimeAsync(0);
  app.take({ type: 'changed', topic: 'skills' });
  await vi.advanceTimersByTimeAsync(REFRESH_DEBOUNCE_MS);
  expect(asked).toHaveBeenCalledTimes(2);
  stop();
  app.take({ type: 'changed', topic: 'skills' });
  await vi.advanceTimersByTimeAsync(REFRESH_DEBOUNCE_MS);
  expect(asked).toHaveBeenCalledTimes(2);
});
