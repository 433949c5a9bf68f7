import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { api } from '$lib/api/client';
import type { ChatSummary } from '$lib/api/types';
import { ChatList, CHAT_PAGE_SIZE } from './list.svelte';
import { summary as chat } from './fixtures';

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
  vi.spyOn(api, 'chats').mockResolvedValue(names.map((name) => chat(name)));
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

test('a deleted chat is hidden at once, whatever a refresh under way brings', async () => {
  const list = await listOf('a', 'b');
  let answer = () => {};
  vi.spyOn(api, 'deleteChat').mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const removed = list.remove('a');
  expect(ids(list)).toEqual(['b']);
  await list.refresh();
  expect(ids(list)).toEqual(['b']);
  answer();
  await removed;
  expect(ids(list)).toEqual(['b']);
});

test('a deleted chat that is restored is listed again', async () => {
  const list = await listOf('a', 'b');
  vi.spyOn(api, 'deleteChat').mockResolvedValue();
  const restoreChat = vi.spyOn(api, 'restoreChat').mockResolvedValue();
  await list.remove('a');
  await list.restore('a');
  expect(restoreChat).toHaveBeenCalledExactlyOnceWith('a');
  expect(ids(list)).toEqual(['a', 'b']);
});

test('a deletion that fails brings the chat back and says so', async () => {
  const list = await listOf('a');
  vi.spyOn(api, 'deleteChat').mockRejectedValue(new Error('no'));
  await expect(list.remove('a')).rejects.toThrow('no');
  expect(ids(list)).toEqual(['a']);
});

test('a refresh under way does not undo a rename', async () => {
  const list = await listOf('a');
  let answer = () => {};
  vi.spyOn(api, 'changeChat').mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const titles = () => list.chats.map(({ title }) => title);
  const renamed = list.change('a', { title: 'new' });
  await list.refresh();
  expect(titles()).toEqual(['new']);
  answer();
  await renamed;
  expect(titles()).toEqual(['new']);
});

test('a rename that fails shows the old title again', async () => {
  const list = await listOf('a');
  vi.spyOn(api, 'changeChat').mockRejectedValue(new Error('no'));
  await expect(list.change('a', { title: 'new' })).rejects.toThrow('no');
  expect(list.chats.map(({ title }) => title)).toEqual(['a']);
});

test('what the open chat says never makes it older', async () => {
  const list = new ChatList();
  vi.spyOn(api, 'chats').mockResolvedValue([chat('a', { updatedAt: 5 })]);
  await list.refresh();
  const updatedAt = () => list.chats[0]?.updatedAt;
  list.update('a', { updatedAt: 3, title: 'new' });
  expect(updatedAt()).toBe(5);
  list.update('a', { updatedAt: 8 });
  expect(updatedAt()).toBe(8);
});

test('a chat that is put away leaves the list at once, and comes back if that fails', async () => {
  const list = await listOf('a', 'b');
  let fail = (_: Error) => {};
  vi.spyOn(api, 'changeChat').mockReturnValue(new Promise((_, reject) => (fail = reject)));
  const away = list.change('a', { archived: true });
  expect(ids(list)).toEqual(['b']);
  fail(new Error('no'));
  await expect(away).rejects.toThrow('no');
  expect(ids(list)).toEqual(['a', 'b']);
});

describe('pages', () => {
  /** Chats 1, 2, 3 …, the newest first. */
  const page = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) =>
      chat(`${from + index}`, { updatedAt: 10_000 - from - index }),
    );
  const first = page(1, CHAT_PAGE_SIZE);

  test('follow on the last chat that is not pinned', async () => {
    const pinned = chat('p', { pinned: true, updatedAt: 3 });
    const chats = vi
      .spyOn(api, 'chats')
      .mockResolvedValueOnce([pinned, ...first])
      .mockResolvedValueOnce(page(CHAT_PAGE_SIZE, 3));
    const list = new ChatList();
    await list.refresh();
    expect(list.more).toBe(true);
    await list.loadMore();
    const last = first.at(-1);
    expect(chats.mock.calls[1]?.[0]).toMatchObject({ before: `${last?.updatedAt}.${last?.id}` });
    // One that was there already is listed once.
    expect(ids(list)).toHaveLength(CHAT_PAGE_SIZE + 1 + 2);
    expect(list.more).toBe(false);
    await list.loadMore();
    expect(chats).toHaveBeenCalledTimes(2);
  });

  test('that were loaded stay when the first one is looked at again', async () => {
    const list = new ChatList();
    const chats = vi.spyOn(api, 'chats').mockResolvedValueOnce(first);
    await list.refresh();
    chats.mockResolvedValueOnce(page(CHAT_PAGE_SIZE + 1, 3));
    await list.loadMore();
    // Meanwhile the second chat was deleted elsewhere, and an old one was used.
    const used = chat(`${CHAT_PAGE_SIZE + 2}`, { updatedAt: 20_000 });
    chats.mockResolvedValueOnce([used, ...first.filter(({ id }) => id !== '2')]);
    await list.refresh();
    const now = ids(list);
    expect(now[0]).toBe(used.id);
    expect(now).not.toContain('2');
    expect(now.filter((id) => id === used.id)).toHaveLength(1);
    expect(now).toHaveLength(CHAT_PAGE_SIZE + 2);
    expect(list.more).toBe(false);
  });

  test('of the archive are asked for as such', async () => {
    const put = chat('x', { archived: true });
    const chats = vi.spyOn(api, 'chats').mockResolvedValue([put]);
    const list = new ChatList('archived');
    await list.refresh();
    expect(chats).toHaveBeenCalledWith({
      limit: CHAT_PAGE_SIZE,
      before: undefined,
      archived: true,
    });
    expect(ids(list)).toEqual(['x']);
  });
});
