import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api } from '$lib/api/client';
import type { ChatSummary } from '$lib/api/types';
import { ChatList, UNDO_MS } from './list.svelte';

const chat = (id: string): ChatSummary => ({ id, title: id, createdAt: 0, updatedAt: 0 });
const ids = (list: ChatList) => list.chats.map(({ id }) => id);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function listOf(...names: string[]): Promise<ChatList> {
  const list = new ChatList();
  vi.spyOn(api, 'chats').mockResolvedValue(names.map(chat));
  await list.refresh();
  return list;
}

test('a new chat that a refresh has brought already is listed once', async () => {
  const list = await listOf('new', 'old');
  vi.spyOn(api, 'createChat').mockResolvedValue(chat('new'));
  await list.create();
  expect(ids(list)).toEqual(['new', 'old']);
});

test('a refresh that began before a chat was made does not lose it', async () => {
  const list = await listOf('old');
  let answerLate = (_: ChatSummary[]) => {};
  vi.spyOn(api, 'chats')
    .mockReturnValueOnce(new Promise((resolve) => (answerLate = resolve)))
    .mockResolvedValue([chat('new'), chat('old')]);
  vi.spyOn(api, 'createChat').mockResolvedValue(chat('new'));
  const refreshed = list.refresh();
  await list.create();
  answerLate([chat('old')]);
  await refreshed;
  expect(ids(list)).toEqual(['new', 'old']);
});

test('a deleted chat is hidden at once, and deleted when the time to undo is over', async () => {
  const list = await listOf('a', 'b');
  const deleteChat = vi.spyOn(api, 'deleteChat').mockResolvedValue();
  list.remove('a', () => expect.unreachable());
  expect(ids(list)).toEqual(['b']);
  await vi.advanceTimersByTimeAsync(UNDO_MS - 1);
  expect(deleteChat).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(deleteChat).toHaveBeenCalledExactlyOnceWith('a');
  expect(ids(list)).toEqual(['b']);
});

test('a deletion that was taken back never reaches the server', async () => {
  const list = await listOf('a', 'b');
  const deleteChat = vi.spyOn(api, 'deleteChat').mockResolvedValue();
  list.remove('a', () => expect.unreachable());
  list.restore('a');
  await vi.advanceTimersByTimeAsync(2 * UNDO_MS);
  expect(ids(list)).toEqual(['a', 'b']);
  expect(deleteChat).not.toHaveBeenCalled();
});

test('a deletion that fails brings the chat back and says so', async () => {
  const list = await listOf('a');
  vi.spyOn(api, 'deleteChat').mockRejectedValue(new Error('no'));
  const failed = vi.fn();
  list.remove('a', failed);
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(failed).toHaveBeenCalledOnce();
  expect(ids(list)).toEqual(['a']);
});

test('a chat deleted twice can be had back still', async () => {
  const list = await listOf('a');
  const deleteChat = vi.spyOn(api, 'deleteChat').mockResolvedValue();
  list.remove('a', () => expect.unreachable());
  list.remove('a', () => expect.unreachable());
  list.restore('a');
  await vi.advanceTimersByTimeAsync(2 * UNDO_MS);
  expect(deleteChat).not.toHaveBeenCalled();
});

test('a refresh under way does not undo a rename', async () => {
  const list = await listOf('a');
  let answer = () => {};
  vi.spyOn(api, 'changeChat').mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const titles = () => list.chats.map(({ title }) => title);
  const renamed = list.rename('a', 'new');
  await list.refresh();
  expect(titles()).toEqual(['new']);
  answer();
  await renamed;
  expect(titles()).toEqual(['new']);
});

test('a rename that fails shows the old title again', async () => {
  const list = await listOf('a');
  vi.spyOn(api, 'changeChat').mockRejectedValue(new Error('no'));
  await expect(list.rename('a', 'new')).rejects.toThrow('no');
  expect(list.chats.map(({ title }) => title)).toEqual(['a']);
});

test('who asked hears of the chats that are gone for good', async () => {
  const gone = vi.fn();
  const list = new ChatList(gone);
  vi.spyOn(api, 'deleteChat').mockResolvedValue();
  list.remove('a', () => expect.unreachable());
  expect(gone).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(gone).toHaveBeenCalledExactlyOnceWith('a');
});
