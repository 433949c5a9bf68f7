import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { COPIED_MS, CopyFeedback } from './copyFeedback.svelte';

const writeText = vi.fn<(text: string) => Promise<void>>();
let feedback: CopyFeedback<'csv' | 'json'>;

beforeEach(() => {
  vi.useFakeTimers();
  writeText.mockReset().mockResolvedValue();
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  feedback = new CopyFeedback();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('what was copied is marked for a moment', async () => {
  expect(await feedback.copy('csv', 'a,b')).toBe(true);
  expect(writeText).toHaveBeenCalledExactlyOnceWith('a,b');
  expect(feedback.copied).toBe('csv');
  vi.advanceTimersByTime(COPIED_MS - 1);
  expect(feedback.copied).toBe('csv');
  vi.advanceTimersByTime(1);
  expect(feedback.copied).toBeUndefined();
});

test('a second copy keeps its mark for its whole time', async () => {
  await feedback.copy('csv', 'a,b');
  vi.advanceTimersByTime(COPIED_MS - 1);
  await feedback.copy('json', '[]');
  vi.advanceTimersByTime(COPIED_MS - 1);
  expect(feedback.copied).toBe('json');
  vi.advanceTimersByTime(1);
  expect(feedback.copied).toBeUndefined();
});

test('nothing is marked as copied where the clipboard is closed', async () => {
  await feedback.copy('csv', 'a,b');
  writeText.mockRejectedValue(new Error('not allowed'));
  expect(await feedback.copy('csv', 'a,b')).toBe(false);
  expect(feedback.copied).toBeUndefined();
});
