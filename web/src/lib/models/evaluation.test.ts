import { expect, test } from 'vitest';
import type { EvaluationFrame, EvaluationReport, ModeScore, ToolUse } from '$lib/api/types';
import { errorDetail } from '$lib/i18n/errorFixture';
import {
  applyEvaluationFrame,
  cancelEvaluation,
  finishEvaluation,
  progressOf,
  startEvaluation,
} from './evaluation';

const score = (mode: ToolUse, prompts: number, change: Partial<ModeScore> = {}): ModeScore => ({
  mode,
  prompts,
  passed: prompts,
  rightFirstCalls: prompts,
  rightAnswers: prompts,
  durationMs: prompts * 2000,
  kinds: [],
  ...change,
});
const report = (...modes: ModeScore[]): EvaluationReport => ({ promptsPerMode: 6, modes });
const play = (...frames: EvaluationFrame[]) =>
  frames.reduce(applyEvaluationFrame, startEvaluation());

test('the last report counts, and the last frame says how it ended', () => {
  const first = report(score('native', 0));
  const last = report(score('native', 6));
  const started: EvaluationFrame = { type: 'started', report: first };
  expect(play(started)).toEqual({ state: 'running', report: first });
  expect(play(started, { type: 'finished', report: last })).toEqual({
    state: 'finished',
    report: last,
    error: undefined,
  });
  const error = errorDetail('Nothing answers.', 'model_unreachable');
  expect(play(started, { type: 'finished', report: last, error })).toMatchObject({
    state: 'failed',
    report: last,
    error: { code: 'model_unreachable' },
  });
});

test('what was measured stays when it is stopped or cut off', () => {
  const measured = report(score('native', 3));
  const running = play({ type: 'started', report: measured });
  expect(cancelEvaluation(running)).toEqual({ state: 'stopped', report: measured });
  expect(finishEvaluation(running)).toMatchObject({ state: 'failed', report: measured });
  const stopped = cancelEvaluation(running);
  expect(finishEvaluation(stopped)).toBe(stopped);
  expect(applyEvaluationFrame(stopped, { type: 'started', report: report() })).toBe(stopped);
});

test('progress leaves out what a mode with a problem will not be asked', () => {
  expect(progressOf(report(score('native', 0), score('text', 0)))).toEqual({
    mode: 'native',
    done: 0,
    total: 12,
    remainingMs: undefined,
  });
  const problem = errorDetail('No tools.', 'model_tools_refused');
  const modes = [score('native', 0, { problem }), score('text', 2)];
  expect(progressOf(report(...modes))).toEqual({
    mode: 'text',
    done: 2,
    total: 6,
    remainingMs: 8000,
  });
});
