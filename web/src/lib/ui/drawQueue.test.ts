import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { drawEverything, drawNext, drawSoon, type Drawing } from './drawQueue';

const FRAME_MS = 16;
let drawn: string[];
let spentMs: number;

beforeEach(() => {
  vi.useFakeTimers();
  drawn = [];
  spentMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + spentMs);
});

afterEach(() => {
  drawEverything();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** So many pieces, each of which takes as long as a frame has room for. */
function pieces(name: string, count: number): Drawing {
  let index = 0;
  return () => {
    index += 1;
    drawn.push(`${name}${index}`);
    spentMs += 10;
    return index < count;
  };
}

test('one frame draws no more than there is time for', () => {
  drawSoon([pieces('a', 2), pieces('b', 1)]);
  expect(drawn).toEqual(['a1']);
  vi.advanceTimersByTime(FRAME_MS);
  expect(drawn).toEqual(['a1', 'a2']);
  vi.advanceTimersByTime(FRAME_MS);
  expect(drawn).toEqual(['a1', 'a2', 'b1']);
});

test('what is begun is finished before others are', () => {
  const begin: Drawing = () => {
    drawNext(pieces('a', 2));
    return false;
  };
  drawSoon([begin, pieces('b', 1)]);
  vi.advanceTimersByTime(4 * FRAME_MS);
  expect(drawn).toEqual(['a1', 'a2', 'b1']);
});

test('what was stopped is drawn no further', () => {
  const stop = drawNext(pieces('a', 3));
  vi.advanceTimersByTime(FRAME_MS);
  stop();
  vi.advanceTimersByTime(4 * FRAME_MS);
  expect(drawn).toEqual(['a1']);
});

test('on paper everything is drawn at once', () => {
  drawSoon([pieces('a', 3), pieces('b', 2)]);
  drawEverything();
  expect(drawn).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
});
