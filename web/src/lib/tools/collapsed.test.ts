import { beforeEach, expect, test } from 'vitest';
import { CollapsedParts } from './collapsed.svelte';

beforeEach(() => localStorage.clear());

test('what was collapsed is remembered', () => {
  new CollapsedParts().set('builtin', true);
  expect(new CollapsedParts().has('builtin')).toBe(true);
  new CollapsedParts().set('builtin', false);
  expect(new CollapsedParts().has('builtin')).toBe(false);
});

test('a long list begins collapsed, and stays open when it was opened', () => {
  const parts = new CollapsedParts();
  expect([parts.has('short', 12), parts.has('long', 10_000)]).toEqual([false, true]);
  parts.set('long', false);
  expect(parts.has('long', 10_000)).toBe(false);
});

test('what is remembered wrongly is passed over', () => {
  for (const wrong of ['{"broken', 'null', '[1]', '{"a":"yes"}']) {
    localStorage.setItem('tenon.tools.collapsed', wrong);
    expect(new CollapsedParts().has('a')).toBe(false);
  }
});
