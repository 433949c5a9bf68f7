import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadSetting, saveSetting, setStorageAccount } from './storage';

beforeEach(() => localStorage.clear());
afterEach(() => setStorageAccount(undefined));

test('what one person left is not what another one finds', () => {
  setStorageAccount('ann');
  saveSetting('draft.new', 'a secret');
  setStorageAccount('bob');
  expect(loadSetting('draft.new')).toBeUndefined();
  saveSetting('draft.new', 'hello');
  setStorageAccount('ann');
  expect(loadSetting('draft.new')).toBe('a secret');
});

test.each(['theme', 'device'])('the %s belongs to the browser', (key) => {
  setStorageAccount('ann');
  saveSetting(key, 'dark');
  setStorageAccount('bob');
  expect([loadSetting(key), localStorage.getItem(`tenon.${key}`)]).toEqual(['dark', 'dark']);
});

test('without accounts nothing has an owner', () => {
  saveSetting('draft.new', 'hello');
  expect(localStorage.getItem('tenon.draft.new')).toBe('hello');
});
