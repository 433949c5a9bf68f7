import { expect, test } from 'vitest';
import { freshTraceparent } from './traceparent';

test('a trace of its own for every message', () => {
  const first = freshTraceparent();
  expect(first).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(freshTraceparent()).not.toBe(first);
});
