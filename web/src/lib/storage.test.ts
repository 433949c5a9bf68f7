import { afterEach, beforeEach, expect, test } from 'vitest';
import { recall, remember, rememberFor } from './storage';

beforeEach(() => localStorage.clear());
afterEach(() => rememberFor(undefined));

test('what one person left is not what another one finds', () => {
  rememberFor('ann');
  remember('draft.new', 'a secret');
  rememberFor('bob');
  expect(recall('draft.new')).toBeUndefined();
  remember('draft.new', 'hello');
  rememberFor('ann');
  expect(recall('draft.new')).toBe('a secret');
});

test.each(['theme', 'device'])('the %s belongs to the browser', (key) => {
  rememberFor('ann');
  remember(key, 'dark');
  rememberFor('bob');
  expect([recall(key), localStorage.getItem(`tenon.${key}`)]).toEqual(['dark', 'dark']);
});

test('without accounts nothing has an owner', () => {
  remember('draft.new', 'hello');
  expect(localStorage.getItem('tenon.draft.new')).toBe('hello');
});
