import { expect, test } from 'vitest';
import { freshUuid } from './uuid';

test('a UUID is written as everybody writes it, and never twice', () => {
  const made = Array.from({ length: 100 }, freshUuid);
  for (const id of made) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  expect(new Set(made).size).toBe(made.length);
});
