import { afterEach, expect, test, vi } from 'vitest';
import { api, ApiError } from '$lib/api/client';
import type { ChatSummary, ExportedChat } from '$lib/api/types';
import { allChats, chatsIn, deleteChats, exportChats, importChats, type BulkStep } from './bulk';

afterEach(() => vi.restoreAllMocks());

const chat = (id: string, change: Partial<ChatSummary> = {}) =>
  ({ id, updatedAt: 1, pinned: false, archived: false, ...change }) as ChatSummary;
const exported = (title: string) => ({ format: 'tenon.chat', title }) as ExportedChat;
const running = () => new AbortController().signal;

/** jsdom has no `Blob.text`. */
function textOf(file: Blob): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.readAsText(file);
  });
}

test('all chats are read page by page, and the archive as well', async () => {
  const full = Array.from({ length: 500 }, (_, index) => chat(`c${index}`));
  const pages = vi
    .spyOn(api, 'chats')
    .mockImplementation(({ before, archived }) =>
      Promise.resolve(archived ? [chat('old')] : before ? [chat('c500')] : full),
    );
  const found = await allChats();
  expect(found.map(({ id }) => id).slice(-3)).toEqual(['c499', 'c500', 'old']);
  expect(found).toHaveLength(502);
  expect(pages.mock.calls.map(([page]) => page.before)).toEqual([undefined, '1.c499', undefined]);
});

test('what is exported is what is read back', async () => {
  const asked = vi
    .spyOn(api, 'exportChat')
    .mockImplementation((id) => Promise.resolve(new Blob([JSON.stringify(exported(id))])));
  const steps: number[] = [];
  const report = ({ done }: BulkStep) => steps.push(done);
  const chats = [chat('a'), chat('b')];
  const { file } = await exportChats(chats, { withFiles: true }, report, running());
  expect(JSON.parse(await textOf(file))).toMatchObject({ format: 'tenon.chats', version: 1 });
  expect(steps).toEqual([1, 2]);
  expect(asked.mock.calls).toEqual([
    ['a', { format: 'json', withFiles: true }],
    ['b', { format: 'json', withFiles: true }],
  ]);
});

test('a chat with too many files is exported without them, and named', async () => {
  const asked: unknown[] = [];
  vi.spyOn(api, 'exportChat').mockImplementation((id, { withFiles }) => {
    asked.push([id, withFiles]);
    const large = id === 'b' && withFiles;
    return large
      ? Promise.reject(new ApiError('files_too_large_to_export', 'too large', 413))
      : Promise.resolve(new Blob([JSON.stringify(exported(id))]));
  });
  const chats = ['a', 'b', 'c'].map((id) => chat(id, { title: `Chat ${id}` }));
  const options = { withFiles: true };
  const { file, withoutFiles } = await exportChats(chats, options, () => {}, running());
  expect(chatsIn(await textOf(file))?.map(({ title }) => title)).toEqual(['a', 'b', 'c']);
  expect(withoutFiles).toEqual(['Chat b']);
  expect(asked).toEqual([
    ['a', true],
    ['b', true],
    ['b', false],
    ['c', true],
  ]);
  // Whatever else is wrong ends it.
  vi.spyOn(api, 'exportChat').mockRejectedValue(new ApiError('database_no_answer', 'no', 503));
  await expect(exportChats(chats, options, () => {}, running())).rejects.toThrow();
});

test('a file holds one chat, many, or none of ours', () => {
  const check = (value: unknown, expected: string[] | undefined) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    expect(chatsIn(text)?.map(({ title }) => title)).toEqual(expected);
  };
  check(exported('a'), ['a']);
  check({ format: 'tenon.chats', version: 1, chats: [exported('a'), exported('b')] }, ['a', 'b']);
  check({ format: 'tenon.chats', version: 1, chats: [exported('a'), { format: 'x' }] }, undefined);
  check({ format: 'tenon.chats', chats: 'x' }, undefined);
  check([], undefined);
  check('null', undefined);
  check('no JSON', undefined);
});

test('a chat that is refused does not keep out the others', async () => {
  const no = new Error('no');
  vi.spyOn(api, 'importChat').mockImplementation((chat) =>
    (chat as ExportedChat).title === 'bad'
      ? Promise.reject(no)
      : Promise.resolve({ id: (chat as ExportedChat).title } as ChatSummary),
  );
  const chats = [exported('a'), exported('bad'), exported('b')];
  const { made, refused } = await importChats(chats, () => {}, running());
  expect(made.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(refused).toEqual([{ title: 'bad', error: no }]);
});

test('a deletion that is stopped goes no further', async () => {
  const stop = new AbortController();
  const gone: string[] = [];
  const remove = (id: string) => {
    gone.push(id);
    if (gone.length === 2) stop.abort();
    return Promise.resolve();
  };
  const all = ['a', 'b', 'c'].map((id) => chat(id));
  await expect(deleteChats(all, remove, () => {}, stop.signal)).rejects.toThrow();
  expect(gone).toEqual(['a', 'b']);
});
