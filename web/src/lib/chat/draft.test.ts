import { beforeEach, expect, test } from 'vitest';
import { loadSetting } from '$lib/storage';
import { Draft } from './draft.svelte';

beforeEach(() => localStorage.clear());

/** A draft of a chat that was written and is on its way. */
function taken(chatId: string | undefined, text: string): Draft {
  const draft = new Draft(chatId);
  draft.text = text;
  draft.take();
  return draft;
}

test('what is on its way is not in the field, even for a reader who went and came back', () => {
  const draft = taken('a', 'hello');
  draft.open('b');
  draft.open('a');
  expect(draft.text).toBe('');
  draft.arrived('a');
  expect(loadSetting('draft.a')).toBeUndefined();
});

test('what was written since it was sent stays when it arrives', () => {
  const draft = taken('a', 'hello');
  draft.text = 'and';
  draft.arrived('a');
  expect(loadSetting('draft.a')).toBe('and');
});

test('what could not be sent comes back, before what was written since', () => {
  const draft = taken('a', 'hello');
  draft.text = 'and';
  draft.putBack('hello', 'a');
  expect(draft.text).toBe('hello\nand');
});

test('what could not be sent waits in its chat for a reader who is elsewhere', () => {
  const draft = taken('a', 'hello');
  draft.open('b');
  draft.putBack('hello', 'a');
  expect(draft.text).toBe('');
  draft.open('a');
  expect(draft.text).toBe('hello');
});

test('a new chat takes its draft along, and no other', () => {
  const draft = taken(undefined, 'hello');
  draft.open('b');
  draft.text = 'for b';
  draft.moveTo(undefined, 'a');
  expect([loadSetting('draft.new'), loadSetting('draft.a'), loadSetting('draft.b')]).toEqual([
    undefined,
    'hello',
    'for b',
  ]);
  draft.arrived('a');
  expect(loadSetting('draft.a')).toBeUndefined();
  expect(draft.text).toBe('for b');
});

test('what was put back is withdrawn unless it was changed', () => {
  const check = (now: string, openChat: string, left: string) => {
    const draft = new Draft('a');
    draft.text = now;
    draft.open(openChat);
    draft.withdraw('hello', 'a');
    draft.open('a');
    expect(draft.text).toBe(left);
  };
  check('hello', 'a', '');
  check('hello', 'b', '');
  check('hello, you', 'a', 'hello, you');
  check('hello, you', 'b', 'hello, you');
});
