import { ApiError } from '$lib/api/client';
import { errorDetail } from '$lib/i18n/errorFixture';
import { expect, test } from 'vitest';
import type { TestFrame } from '$lib/api/types';
import { startModelTest, finishModelTest, cancelModelTest, applyTestFrame } from './modelTest';

const play = (...frames: TestFrame[]) => frames.reduce(applyTestFrame, startModelTest());
const finished: TestFrame = {
  type: 'finished',
  ok: true,
  tools: 'native',
  isInText: true,
  firstWordMs: 412,
};

test('a test shows its words, then what it tries, then what it found', () => {
  const words: TestFrame[] = [
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
  ];
  expect(play(...words)).toEqual({ state: 'running', text: 'Hello' });
  const trying: TestFrame = { type: 'tryingTools', mode: 'constrained' };
  expect(play(...words, trying)).toEqual({
    state: 'running',
    text: 'Hello',
    trying: 'constrained',
  });
  expect(play(...words, trying, finished)).toEqual({
    state: 'passed',
    text: 'Hello',
    tools: 'native',
    isInText: true,
    firstWordMs: 412,
  });
});

test('a test that fails keeps the sentence that says why', () => {
  const error = errorDetail('The key was refused.', 'model_key_refused');
  expect(play({ type: 'finished', ok: false, isInText: false, error })).toMatchObject({
    state: 'failed',
    error: ApiError.of(error),
  });
});

test('a stream that ends without an end is a failure', () => {
  expect(finishModelTest(play({ type: 'text', text: 'Hel' }))).toEqual({
    state: 'failed',
    text: 'Hel',
  });
  expect(finishModelTest(play(finished)).state).toBe('passed');
});

test('what was stopped stays stopped', () => {
  const stopped = cancelModelTest(play({ type: 'text', text: 'Hel' }));
  expect(stopped).toEqual({ state: 'stopped', text: 'Hel' });
  expect(applyTestFrame(stopped, finished)).toBe(stopped);
  expect(finishModelTest(stopped)).toBe(stopped);
  const over = play(finished);
  expect(cancelModelTest(over)).toBe(over);
});

test('a frame of a newer server changes nothing', () => {
  const modelTest = startModelTest();
  expect(applyTestFrame(modelTest, { type: 'weather' } as unknown as TestFrame)).toBe(modelTest);
});
