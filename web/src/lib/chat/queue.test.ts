import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '$lib/api/error';
import type { ServerFrame, TurnOutcome } from '$lib/api/types';
import { summary } from './fixtures';
import { MessageQueue } from './queue.svelte';
import type { Delivery } from './turnOutbox';

beforeEach(() => localStorage.clear());

const idle: ServerFrame = { type: 'chat:changed', chat: summary('a') };
const finished = (outcome: TurnOutcome): ServerFrame => ({
  type: 'event',
  chatId: 'a',
  seq: 1,
  at: 0,
  body: {
    type: 'turnFinished',
    turnId: 't0',
    outcome,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  },
});

/** A tab in which the chat is open. */
function tab(delivery: Delivery = { sent: true }) {
  const deliver = vi.fn((_chatId: string, _message: { turnId: string; text: string }) =>
    Promise.resolve(delivery),
  );
  const host = { isBusy: vi.fn(() => false), deliver, refused: vi.fn() };
  const queue = new MessageQueue(host);
  queue.open('a');
  const texts = () => queue.messages.map(({ text }) => text);
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  return { queue, host, deliver, texts, settle };
}

test('messages are sent one by one, as turns end', async () => {
  const { queue, deliver, texts, settle } = tab();
  queue.add('a', { text: 'one' }, 'm');
  queue.add('a', { text: 'two' }, 'm');
  queue.take({ type: 'chat:changed', chat: summary('a', { running: 't0' }) });
  expect(deliver).not.toHaveBeenCalled();
  queue.take(idle);
  await settle();
  expect(texts()).toEqual(['two']);
  queue.take(idle);
  await settle();
  expect(deliver.mock.calls.map(([, { text }]) => text)).toEqual(['one', 'two']);
  expect(texts()).toEqual([]);
  expect(localStorage).toHaveLength(0);
});

test('a reload and another tab send a message under the same id', async () => {
  const first = tab();
  first.queue.add('a', { text: 'one' }, undefined);
  const second = tab();
  expect(second.texts()).toEqual(['one']);
  first.queue.take(idle);
  second.queue.take(idle);
  await first.settle();
  const idOf = ({ deliver }: typeof first) => deliver.mock.calls[0]?.[1].turnId;
  expect(idOf(first)).toBe(idOf(second));
  expect([first.texts(), second.texts()]).toEqual([[], []]);
});

test('a message whose turn has started elsewhere waits no longer', () => {
  const { queue, texts } = tab();
  queue.add('a', { text: 'one' }, undefined);
  const turnId = queue.messages[0]?.turnId ?? '';
  queue.take({
    ...{ type: 'event', chatId: 'a', seq: 2, at: 0 },
    body: {
      type: 'turnStarted',
      turnId,
      door: 'page',
      message: { id: 'm', chatId: 'a', turnId, role: 'user', parts: [], createdAt: 0 },
    },
  });
  expect(texts()).toEqual([]);
});

test('a changed message is another turn, and a removed one is not sent', async () => {
  const { queue, deliver, settle, texts } = tab();
  queue.add('a', { text: 'one' }, undefined);
  const before = queue.messages[0]?.turnId ?? '';
  queue.change('a', before, { text: 'uno' });
  expect(texts()).toEqual(['uno']);
  expect(queue.messages[0]?.turnId).not.toBe(before);
  queue.remove('a', queue.messages[0]?.turnId ?? '');
  queue.take(idle);
  await settle();
  expect(deliver).not.toHaveBeenCalled();
});

test('after an answer that failed, messages wait until they are sent by hand', async () => {
  const { queue, deliver, settle } = tab();
  queue.add('a', { text: 'one' }, undefined);
  queue.take(finished({ kind: 'failed', code: 'x', message: 'No.', params: {} }));
  queue.take(idle);
  await settle();
  expect(deliver).not.toHaveBeenCalled();
  expect(queue.hold).toBeTruthy();
  queue.sendNow();
  await settle();
  expect(deliver).toHaveBeenCalledOnce();
});

test('a refusal holds the queue, and a chat that still answers does not', async () => {
  const check = async (code: string, held: boolean) => {
    localStorage.clear();
    const error = new ApiError(code, 'No.', 409);
    const { queue, texts, settle } = tab({ sent: false, error, uncertain: false });
    queue.add('a', { text: 'one' }, undefined);
    queue.take(idle);
    await settle();
    expect(texts()).toEqual(['one']);
    expect(queue.hold !== undefined).toBe(held);
  };
  await check('busy', false);
  await check('too_long', true);
});

test('nothing is sent while the open chat is at work', async () => {
  const { queue, host, deliver, settle } = tab();
  host.isBusy.mockReturnValue(true);
  queue.add('a', { text: 'one' }, undefined);
  queue.take(idle);
  await settle();
  expect(deliver).not.toHaveBeenCalled();
});

test('what a chat that is not open refuses is told, and waits there', async () => {
  const error = new ApiError('too_long', 'No.', 413);
  const { queue, host, settle, texts } = tab({ sent: false, error, uncertain: false });
  queue.add('a', { text: 'one' }, undefined);
  queue.open('b');
  queue.take(idle);
  await settle();
  expect(host.refused).toHaveBeenCalledWith('a', expect.stringContaining('No.'));
  expect(queue.hold).toBeUndefined();
  queue.open('a');
  expect(texts()).toEqual(['one']);
});

test('an answer that failed before others holds nothing back', async () => {
  const { queue, deliver, settle } = tab();
  queue.add('a', { text: 'one' }, undefined);
  queue.take(finished({ kind: 'failed', code: 'x', message: 'No.', params: {} }));
  queue.take(finished({ kind: 'done' }));
  queue.take({ type: 'caughtUp', chatId: 'a', seq: 2 });
  await settle();
  expect(deliver).toHaveBeenCalledOnce();
});
