import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DrawPacer } from './drawPacer';

const FRAME_MS = 16;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('what is asked for many times is drawn once, before the next frame', () => {
  const pacer = new DrawPacer();
  const draw = vi.fn();
  for (let n = 0; n < 5; n += 1) pacer.request(draw);
  expect(draw).not.toHaveBeenCalled();
  vi.advanceTimersByTime(FRAME_MS);
  expect(draw).toHaveBeenCalledTimes(1);
});

test('the longer it takes, the more is left to others, up to a limit', () => {
  const check = (costMs: number, expectedMs: number) => {
    const interval = drawingInterval(costMs);
    expect(interval).toBeGreaterThanOrEqual(expectedMs);
    expect(interval).toBeLessThanOrEqual(expectedMs + 2 * FRAME_MS);
  };
  check(0, 0);
  check(10, 20);
  check(60, 120);
  check(1_000, 1_200);
});

/** Of something that changes all the time: how long it is from one drawing to the next. */
function drawingInterval(costMs: number): number {
  const pacer = new DrawPacer();
  let spentMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + spentMs);
  const times: number[] = [];
  const draw = () => {
    times.push(performance.now());
    spentMs += costMs;
  };
  while (times.length < 3) {
    pacer.request(draw);
    vi.advanceTimersByTime(1);
  }
  vi.restoreAllMocks();
  return times[2]! - times[1]!;
}
