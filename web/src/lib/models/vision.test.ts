import { expect, test } from 'vitest';
import { modelView } from './fixtures';
import { isBlind } from './vision';

test('only a model that is known not to see is refused a picture', () => {
  expect(isBlind(undefined)).toBe(false);
  expect(isBlind(modelView('a'))).toBe(false);
  expect(isBlind({ ...modelView('a'), seesImages: true })).toBe(false);
  expect(isBlind({ ...modelView('a'), seesImages: false })).toBe(true);
  expect(isBlind(modelView('builtin', { origin: 'builtin' }))).toBe(true);
});
