import { afterEach, expect, test, vi } from 'vitest';
import { api } from '$lib/api/client';
import type { ChatSummary, TurnStarted } from '$lib/api/types';
import type { Conversation } from '$lib/chat/conversation.svelte';
import { Comparison } from './comparison.svelte';

afterEach(() => {
  vi.restoreAllMocks();
  localStorage.clear();
});

function comparison(): Comparison {
  const conversation = () =>
    ({ announce: () => () => {}, begin: () => {}, close: () => {} }) as unknown as Conversation;
  return new Comparison(['a', 'b'], conversation);
}

test('a message that reached nobody is known to be unsent', async () => {
  const no = new Error('no');
  let chats = 0;
  vi.spyOn(api, 'createChat').mockImplementation(() =>
    Promise.resolve({ id: `c${++chats}` } as ChatSummary),
  );
  const starting = vi.spyOn(api, 'startTurn').mockRejectedValue(no);
  const both = comparison();
  expect(await both.send({ text: 'hello' })).toBe(false);
  expect(both.sides.map(({ failure }) => failure)).toEqual([no, no]);

  // One that reached one of them is shown there.
  starting.mockRejectedValueOnce(no).mockResolvedValue({} as TurnStarted);
  expect(await both.send({ text: 'hello' })).toBe(true);
  expect(both.sides.map(({ failure }) => failure)).toEqual([no, undefined]);
});

test('a message whose page is left before it is sent is unsent', async () => {
  const deleted: string[] = [];
  vi.spyOn(api, 'createChat').mockResolvedValue({ id: 'c' } as ChatSummary);
  vi.spyOn(api, 'deleteChat').mockImplementation((id) => {
    deleted.push(id);
    return Promise.resolve();
  });
  const starting = vi.spyOn(api, 'startTurn');
  const both = comparison();
  const sending = both.send({ text: 'hello' });
  both.leave();
  expect(await sending).toBe(false);
  expect(starting).not.toHaveBeenCalled();
  expect(deleted).toEqual(['c', 'c']);
});
