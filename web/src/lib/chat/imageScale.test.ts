import { expect, test } from 'vitest';
import { fittedSize, MAX_IMAGE_BYTES, needsScaling } from './imageScale';

test('only pictures that are too large, and that a canvas can draw, are scaled', () => {
  const check = (type: string, size: number, expected: boolean) =>
    expect(needsScaling({ type, size })).toBe(expected);
  check('image/jpeg', MAX_IMAGE_BYTES, false);
  check('image/jpeg', MAX_IMAGE_BYTES + 1, true);
  check('image/svg+xml', MAX_IMAGE_BYTES + 1, false);
  check('image/gif', MAX_IMAGE_BYTES + 1, false);
  check('application/pdf', MAX_IMAGE_BYTES + 1, false);
});

test('a picture keeps its proportions, and is never made larger', () => {
  expect(fittedSize(4096, 2048)).toEqual({ width: 2048, height: 1024 });
  expect(fittedSize(1000, 3000)).toEqual({ width: 683, height: 2048 });
  expect(fittedSize(640, 480)).toEqual({ width: 640, height: 480 });
});
