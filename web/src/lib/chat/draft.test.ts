import { beforeEach, expect, test } from 'vitest';
import { loadSetting } from '$lib/storage';
import { Draft } from './draft.svelte';

beforeEach(() => localStorage.clear());

/** A draft of a chat that was written and is on its way. */
function taken(chatId: string | undefined, text: string): Draft {
  const draft = new Draft(chatId);
  draft.text = text;
  draft.take();
  if (chatId) draft.sending(chatId, 't1');
  return draft;
}

test('what is on its way is not in the field, even for a reader who went and came back', () => {
  const draft = taken('a', 'hello');
  draft.open('b');
  draft.open('a');
  expect(draft.text).toBe('');
  draft.arrived('a', 't1');
  expect(['draft.a', 'draftTurn.a'].map(loadSetting)).toEqual([undefined, undefined]);
});

test('what was written since it was sent stays when it arrives', () => {
  const draft = taken('a', 'hello');
  draft.text = 'and';
  draft.arrived('a', 't1');
  expect(loadSetting('draft.a')).toBe('and');
});

test('what could not be sent comes back, before what was written since', () => {
  const draft = taken('a', 'hello');
  draft.text = 'and';
  draft.putBack({ text: 'hello' }, 'a', 't1');
  expect([draft.text, draft.turnId]).toEqual(['hello\nand', undefined]);
});

test('what could not be sent waits in its chat for a reader who is elsewhere', () => {
  const draft = taken('a', 'hello');
  draft.open('b');
  draft.putBack({ text: 'hello' }, 'a');
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
  draft.sending('a', 't1');
  draft.arrived('a', 't1');
  expect(loadSetting('draft.a')).toBeUndefined();
  expect(draft.text).toBe('for b');
});

test('what was put back leaves with its turn, unless it was changed', () => {
  const check = (openChat: string, arrived: string, left: string, change?: string) => {
    const draft = taken('a', 'hello');
    draft.putBack({ text: 'hello' }, 'a', 't1');
    if (change) draft.text = change;
    draft.open(openChat);
    draft.arrived('a', arrived);
    draft.open('a');
    expect(draft.text).toBe(left);
  };
  for (const openChat of ['a', 'b']) {
    check(openChat, 't1', '');
    check(openChat, 't2', 'hello');
    check(openChat, 't1', 'hello, you', 'hello, you');
  }
});

test('a message is the same one after a reload and in another tab, until it is changed', () => {
  taken('a', 'hello');
  const draft = new Draft('a');
  expect([draft.text, draft.turnId]).toEqual(['hello', 't1']);
  draft.text = 'hello, you';
  expect(draft.turnId).toBeUndefined();
  expect(new Draft('a').turnId).toBeUndefined();
});

test('what the server refused is a new message when it is sent again', () => {
  const draft = taken('a', 'hello');
  draft.putBack({ text: 'hello' }, 'a');
  expect([draft.text, draft.turnId]).toEqual(['hello', undefined]);
});
