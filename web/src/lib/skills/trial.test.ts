import { expect, test } from 'vitest';
import type { TryEvent } from '$lib/api/types';
import { emptyTrial, takeEvent, Trial } from './trial.svelte';

const status = (description: string, done = false): TryEvent => ({
  type: 'event',
  event: { type: 'status', data: { description, done } },
});

test('what it prints is kept, and its progress until it is done', () => {
  const take = (...frames: TryEvent[]) => frames.reduce(takeEvent, emptyTrial);
  expect(take({ type: 'line', line: 'a' }, status('Looking'), { type: 'line', line: 'b' })).toEqual(
    {
      lines: ['a', 'b'],
      status: 'Looking',
    },
  );
  expect(take(status('Looking'), status('', true)).status).toBe('');
  expect(take(status('Looking'), { type: 'result', result: 4, durationMs: 7 })).toEqual({
    lines: [],
    status: '',
    end: { result: 4 },
    durationMs: 7,
  });
  expect(take({ type: 'event', event: { type: 'message' } })).toEqual(emptyTrial);
});

test('only the last lines are kept', () => {
  const frames = Array.from({ length: 600 }, (_, index) => ({
    type: 'line' as const,
    line: String(index),
  }));
  const { lines } = frames.reduce(takeEvent, emptyTrial);
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([500, '100', '599']);
});

test('one that is stopped says nothing more', async () => {
  let goOn = () => {};
  const trial = new Trial(async function* () {
    yield { type: 'line', line: 'first' } satisfies TryEvent;
    await new Promise<void>((resolve) => (goOn = resolve));
    yield { type: 'line', line: 'second' } satisfies TryEvent;
  });
  const over = trial.run({ code: '', tool: 'x', arguments: {} });
  await new Promise((resolve) => setTimeout(resolve));
  trial.stop();
  goOn();
  await over;
  expect(trial.running).toBe(false);
  expect(trial.state?.lines).toEqual(['first']);
});
