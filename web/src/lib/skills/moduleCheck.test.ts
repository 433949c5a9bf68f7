import { afterEach, expect, test, vi } from 'vitest';
import type { ModuleCode, ModuleView } from '$lib/api/types';
import { ModuleCheck } from './moduleCheck.svelte';

afterEach(() => {
  vi.useRealTimers();
});

const viewOf = (title: string): ModuleView => ({
  language: 'python',
  title,
  requirements: [],
  warnings: [],
  tools: [],
});

test('while it is typed nothing is asked, and then once', async () => {
  vi.useFakeTimers();
  const describe = vi.fn(async ({ code }: ModuleCode) => viewOf(code));
  const check = new ModuleCheck(describe);
  for (const code of ['a', 'ab', 'abc']) {
    check.soon({ code });
    await vi.advanceTimersByTimeAsync(300);
  }
  await vi.advanceTimersByTimeAsync(800);
  expect(describe.mock.calls).toEqual([[{ code: 'abc' }]]);
  expect(check.view?.title).toBe('abc');
});

test('an answer about an earlier text is not believed', async () => {
  const answers: ((view: ModuleView) => void)[] = [];
  const check = new ModuleCheck(() => new Promise((resolve) => answers.push(resolve)));
  const early = check.now({ code: 'old' });
  const late = check.now({ code: 'new' });
  answers[0]?.(viewOf('old'));
  expect(await early).toBeUndefined();
  expect([check.view, check.busy]).toEqual([undefined, true]);
  answers[1]?.(viewOf('new'));
  await late;
  expect([check.view?.title, check.busy]).toEqual(['new', false]);
});
