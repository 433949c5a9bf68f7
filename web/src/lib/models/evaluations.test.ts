import { afterEach, expect, test, vi } from 'vitest';
import { api } from '$lib/api/client';
import type { EvaluationFrame, EvaluationReport } from '$lib/api/types';
import { Evaluations } from './evaluations.svelte';

afterEach(() => vi.restoreAllMocks());

const report: EvaluationReport = { promptsPerMode: 30, modes: [] };

test('an evaluation is followed to its end', async () => {
  vi.spyOn(api, 'evaluateModel').mockImplementation(async function* () {
    yield { type: 'started', report } as EvaluationFrame;
    yield { type: 'finished', report } as EvaluationFrame;
  });
  const evaluations = new Evaluations();
  await evaluations.start('gpt');
  expect(evaluations.all.get('gpt')).toMatchObject({ state: 'finished', report });
  evaluations.forget('gpt');
  expect(evaluations.all.size).toBe(0);
});

test('one that is stopped is ended on the server, and keeps its report', async () => {
  let signal: AbortSignal | undefined;
  let finish = () => {};
  vi.spyOn(api, 'evaluateModel').mockImplementation(async function* (_, given) {
    signal = given;
    yield { type: 'started', report } as EvaluationFrame;
    await new Promise<void>((resolve) => (finish = resolve));
    throw new Error('aborted');
  });
  const evaluations = new Evaluations();
  const running = evaluations.start('gpt');
  await vi.waitFor(() => expect(evaluations.all.get('gpt')?.report).toBe(report));
  evaluations.stop('gpt');
  finish();
  await running;
  expect(signal?.aborted).toBe(true);
  expect(evaluations.all.get('gpt')).toEqual({ state: 'stopped', report });
});
