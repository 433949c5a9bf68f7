import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '$lib/api/error';
import { files as api } from '$lib/api/files';
import type { AttachedFile } from '$lib/api/types';
import { loadSetting } from '$lib/storage';
import { AttachmentList, fileLimits } from './attachments.svelte';
import { Draft } from './draft.svelte';

const view = (id: string): AttachedFile => ({
  ...{ id, name: `${id}.txt`, mediaType: 'text/plain', size: 5, kind: 'text', truncated: false },
});
const file = (name: string, content = 'hello') => new File([content], name);
const settle = () => new Promise((resolve) => setTimeout(resolve));
const names = (list: AttachmentList) => list.items.map(({ name }) => name);

beforeEach(() => localStorage.clear());
afterEach(() => vi.restoreAllMocks());

test('a file is uploaded at once, and tells how far it is', async () => {
  vi.spyOn(api, 'upload').mockImplementation(async (_file, _name, { onprogress }) => {
    onprogress(0.5);
    return view('f1');
  });
  const list = new AttachmentList();
  list.add([file('a.txt')]);
  expect([list.uploading, list.items[0]?.progress]).toEqual([true, 0]);
  await settle();
  expect([list.uploading, list.files.map(({ id }) => id)]).toEqual([false, ['f1']]);
});

test('what is too large, empty, too many or refused is said, and not sent', async () => {
  const upload = vi.spyOn(api, 'upload').mockRejectedValue(new ApiError('x', 'Unreadable.', 422));
  const list = new AttachmentList();
  const large = file('large');
  Object.defineProperty(large, 'size', { value: fileLimits.maxBytes + 1 });
  list.add([large, file('empty', '')]);
  expect(upload).not.toHaveBeenCalled();
  expect(list.items.every(({ problem }) => problem)).toBe(true);
  list.add([file('refused')]);
  await settle();
  expect(list.items.at(-1)?.problem).toBe('Unreadable.');
  expect([list.failed, list.files]).toEqual([true, []]);
  list.add(Array.from({ length: fileLimits.maxCount }, (_, index) => file(`${index}`)));
  expect([list.items.length, list.overflowed]).toEqual([fileLimits.maxCount, true]);
});

test('what is removed is aborted or deleted, unless it belongs to a message that was sent', async () => {
  const remove = vi.spyOn(api, 'remove').mockResolvedValue();
  let signal: AbortSignal | undefined;
  vi.spyOn(api, 'upload').mockImplementation((_file, _name, options) => {
    signal = options.signal;
    return new Promise(() => {});
  });
  const list = new AttachmentList([view('f1')]);
  list.add([file('a')]);
  await settle();
  for (const { key } of list.items) list.remove(key);
  expect(remove).toHaveBeenCalledExactlyOnceWith('f1');
  expect(signal?.aborted).toBe(true);
  const sent = AttachmentList.ofSent([view('f2')]);
  sent.remove('f2');
  expect(remove).toHaveBeenCalledOnce();
  expect(sent.files).toEqual([]);
});

test('a draft keeps its files over a reload, per chat, until they have arrived', async () => {
  vi.spyOn(api, 'upload').mockImplementation(async (_file, name) => view(name));
  const draft = new Draft('a');
  draft.attachments.add([file('one')]);
  draft.open('b');
  await settle();
  expect(draft.attachments.items).toEqual([]);
  expect(names(new Draft('a').attachments)).toEqual(['one.txt']);
  draft.open('a');
  expect(draft.take().files?.map(({ id }) => id)).toEqual(['one']);
  draft.sending('a', 't1');
  expect(draft.attachments.items).toEqual([]);
  // Reloaded before it is known whether they have arrived.
  expect(names(new Draft('a').attachments)).toEqual(['one.txt']);
  draft.arrived('a', 't1');
  expect(loadSetting('draftFiles.a')).toBeUndefined();
});

test('files that could not be sent come back, before those that were added since', async () => {
  vi.spyOn(api, 'upload').mockImplementation(async (_file, name) => view(name));
  const draft = new Draft(undefined);
  draft.attachments.add([file('one')]);
  await settle();
  const taken = draft.take();
  draft.moveTo(undefined, 'a');
  draft.attachments.add([file('two')]);
  await settle();
  draft.putBack(taken, 'a');
  expect(names(draft.attachments)).toEqual(['one.txt', 'two.txt']);
  expect(names(new Draft('a').attachments)).toEqual(['one.txt', 'two.txt']);
  draft.moveBack('a');
  expect(names(draft.attachments)).toEqual(['one.txt', 'two.txt']);
  expect(loadSetting('draftFiles.a')).toBeUndefined();
});
