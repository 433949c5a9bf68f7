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
  vi.spyOn(api, 'createChat').mockResolvedValue(chat('new', { updatedAt: 9 }));
  await list.create();
  expect(ids(list)).toEqual(['new', 'old']);
});

test('a refresh that began before a chat was made does not lose it', async () => {
  const list = await listOf('old');
  let answerLate = (_: ChatSummary[]) => {};
  vi.spyOn(api, 'chats').mockReturnValue(new Promise((resolve) => (answerLate = resolve)));
  vi.spyOn(api, 'createChat').mockResolvedValue(chat('new', { updatedAt: 9 }));
  const refreshed = list.refresh();
  await list.create();
  answerLate([chat('old')]);
  await refreshed;
  expect(ids(list)).toEqual(['new', 'old']);
});

test('of two lists on their way the newer one is shown', async () => {
  const list = await listOf('a');
  let answerLate = (_: ChatSummary[]) => {};
  vi.spyOn(api, 'chats')
    .mockReturnValueOnce(new Promise((resolve) => (answerLate = resolve)))
    .mockResolvedValueOnce([chat('b')]);
  const first = list.refresh();
  await list.refresh();
  answerLate([chat('a')]);
  await first;
  expect(ids(list)).toEqual(['b']);
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
  const restored = chat('a', { updatedAt: 9 });
  const restoreChat = vi.spyOn(api, 'restoreChat').mockResolvedValue(restored);
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
  let answer = (_: ChatSummary) => {};
  vi.spyOn(api, 'changeChat').mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const titles = () => list.chats.map(({ title }) => title);
  const renamed = list.change('a', { title: 'new' });
  await list.refresh();
  expect(titles()).toEqual(['new']);
  answer(chat('a', { title: 'new' }));
  await renamed;
  expect(titles()).toEqual(['new']);
});

test('a rename that fails shows the old title again', async () => {
  const list = await listOf('a');
  vi.spyOn(api, 'changeChat').mockRejectedValue(new Error('no'));
  await expect(list.change('a', { title: 'new' })).rejects.toThrow('no');
  expect(list.chats.map(({ title }) => title)).toEqual(['a']);
});

test('the open chat knows about itself before the server tells of it', async () => {
  const list = await listOf('a', 'b');
  list.open = { id: 'b', title: 'Tides', running: 't', asking: true };
  list.put(chat('b', { title: '' }));
  expect(list.chats).toEqual(
    [chat('a'), chat('b', { title: 'Tides', running: 't', asking: true })].toSorted((one, other) =>
      other.id.localeCompare(one.id),
    ),
  );
  list.open = undefined;
  expect(list.chats.map(({ title, asking }) => [title, asking])).toContainEqual(['', false]);
});

describe('a chat that changed elsewhere', () => {
  const three = async () => {
    const list = new ChatList();
    const [pinned, b, c] = [
      chat('p', { pinned: true, updatedAt: 1 }),
      chat('b', { updatedAt: 8 }),
      chat('c', { updatedAt: 5 }),
    ];
    vi.spyOn(api, 'chats').mockResolvedValue([pinned, b, c]);
    await list.refresh();
    return list;
  };

  test('stands where the server would list it', async () => {
    const list = await three();
    list.put(chat('new', { updatedAt: 9 }));
    expect(ids(list)).toEqual(['p', 'new', 'b', 'c']);
    list.put(chat('c', { updatedAt: 10 }));
    expect(ids(list)).toEqual(['p', 'c', 'new', 'b']);
    list.put(chat('b', { updatedAt: 8, pinned: true }));
    expect(ids(list)).toEqual(['b', 'p', 'c', 'new']);
    list.put(chat('p', { updatedAt: 1 }));
    expect(ids(list)).toEqual(['b', 'c', 'new', 'p']);
  });

  test('stays in its place while one turn runs', async () => {
    const list = await three();
    list.put(chat('c', { updatedAt: 10, running: 't' }));
    list.put(chat('b', { updatedAt: 11, running: 'u' }));
    list.put(chat('c', { updatedAt: 12, running: 't', asking: true }));
    expect(ids(list)).toEqual(['p', 'b', 'c']);
    expect(list.chats[2]?.asking).toBe(true);
    list.put(chat('c', { updatedAt: 13 }));
    expect(ids(list)).toEqual(['p', 'c', 'b']);
  });

  test('moves between the list and the archive', async () => {
    const list = await three();
    list.put(chat('b', { updatedAt: 8, archived: true }));
    expect(ids(list)).toEqual(['p', 'c']);
    list.put(chat('b', { updatedAt: 8 }));
    expect(ids(list)).toEqual(['p', 'b', 'c']);
  });

  test('is gone when it was deleted, and back when that was undone', async () => {
    const list = await three();
    vi.spyOn(api, 'deleteChat').mockResolvedValue();
    await list.remove('c');
    // Read on the server before it was deleted.
    list.put(chat('c', { updatedAt: 5 }));
    expect(ids(list)).toEqual(['p', 'b']);
    list.drop('c');
    list.put(chat('c', { updatedAt: 5 }));
    expect(ids(list)).toEqual(['p', 'b', 'c']);
  });

  test('is not forgotten by a list that was asked for before', async () => {
    const list = await three();
    let answerLate = (_: ChatSummary[]) => {};
    vi.spyOn(api, 'chats').mockReturnValue(new Promise((resolve) => (answerLate = resolve)));
    const refreshed = list.refresh();
    list.put(chat('new', { updatedAt: 9 }));
    list.drop('c');
    answerLate([chat('b', { updatedAt: 8 }), chat('c', { updatedAt: 5 })]);
    await refreshed;
    expect(ids(list)).toEqual(['new', 'b']);
  });

  test('is not listed before its page is loaded', async () => {
    const list = new ChatList();
    const full = Array.from({ length: CHAT_PAGE_SIZE }, (_, n) =>
      chat(`${n}`, { updatedAt: 1000 - n }),
    );
    vi.spyOn(api, 'chats').mockResolvedValue(full);
    await list.refresh();
    list.put(chat('old', { updatedAt: 1 }));
    expect(ids(list)).not.toContain('old');
    list.put(chat('old', { updatedAt: 1, pinned: true }));
    expect(ids(list)[0]).toBe('old');
    const archive = new ChatList('archived');
    archive.put(chat('x', { archived: true }));
    expect(ids(archive)).toEqual([]);
  });
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

  test('do not bring back what went meanwhile, nor lose what came', async () => {
    const list = new ChatList();
    let answerLate = (_: ChatSummary[]) => {};
    vi.spyOn(api, 'chats')
      .mockResolvedValueOnce(first)
      .mockReturnValueOnce(new Promise((resolve) => (answerLate = resolve)));
    await list.refresh();
    const loaded = list.loadMore();
    const [gone, archived, left, renamed] = page(CHAT_PAGE_SIZE + 1, 4);
    if (!gone || !archived || !left || !renamed) throw new Error('a page of four');
    list.drop(gone.id);
    list.put({ ...archived, archived: true });
    list.put({ ...renamed, title: 'New' });
    answerLate([gone, archived, left, renamed]);
    await loaded;
    const shown = list.chats.slice(CHAT_PAGE_SIZE);
    expect(shown.map(({ id, title }) => [id, title])).toEqual([
      [left.id, left.title],
      [renamed.id, 'New'],
    ]);
  });

  test('that were loaded are all read again', async () => {
    const list = new ChatList();
    const chats = vi.spyOn(api, 'chats').mockResolvedValueOnce(first);
    await list.refresh();
    chats.mockResolvedValueOnce(page(CHAT_PAGE_SIZE + 1, 3));
    await list.loadMore();
    // Meanwhile one of the first page and one of the second were deleted elsewhere.
    const left = page(1, CHAT_PAGE_SIZE + 3).filter(({ id }) => id !== '2' && id !== '62');
    chats.mockResolvedValueOnce(left);
    await list.refresh();
    expect(chats.mock.lastCall?.[0].limit).toBe(CHAT_PAGE_SIZE + 3);
    expect(ids(list)).toEqual(left.map(({ id }) => id));
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
