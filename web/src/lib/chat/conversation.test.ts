import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Socket } from '$lib/api/socket';
import { Conversation } from './conversation.svelte';
import { caughtUp, FrameBuilder } from './fixtures';

/** What was asked of the server: a chat, and after which of its events. */
let asked: [chatId: string, after: number][];
let conversation: Conversation;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  const socket = {
    subscribe: (id: string, lastSeq: () => number) => void asked.push([id, lastSeq()]),
    unsubscribe: () => {},
    resubscribe: (id: string) => void asked.push([id, conversation.chat?.seq ?? 0]),
  };
  conversation = new Conversation(socket as unknown as Socket);
});

afterEach(() => {
  vi.useRealTimers();
});

/** The whole history of a chat of one question. */
function read(frames = new FrameBuilder().turnStarted('Hello?').frames): void {
  for (const frame of [...frames, caughtUp(frames.length)]) conversation.take(frame);
  vi.advanceTimersByTime(1_000);
}

const texts = () => conversation.turns.map(({ text }) => text);

test('a chat that was open is shown at once, and only what is new is asked for', () => {
  conversation.open('c1');
  expect(conversation.chat).toBeUndefined();
  read();
  conversation.open('c2');
  expect(conversation.chat).toBeUndefined();
  conversation.open('c1');
  expect(texts()).toEqual(['Hello?']);
  expect(asked).toEqual([
    ['c1', 0],
    ['c2', 0],
    ['c1', 1],
  ]);

  const shown = conversation.chat;
  const { frames } = new FrameBuilder().turnStarted('Hello?').turnStarted('And now?', 't2');
  for (const frame of frames) conversation.take(frame);
  // What is shown is not changed under the eyes of its reader.
  vi.advanceTimersByTime(1_000);
  expect(conversation.chat).toBe(shown);
  expect(texts()).toEqual(['Hello?']);
  conversation.take(caughtUp(2));
  vi.advanceTimersByTime(1_000);
  expect(texts()).toEqual(['Hello?', 'And now?']);
});

test('one that was left before it was there, or is gone, is read anew', () => {
  conversation.open('c1');
  conversation.take(new FrameBuilder().turnStarted('Hello?').frames[0]!);
  conversation.close();
  conversation.open('c1');
  read();
  conversation.close();
  conversation.take({ type: 'chat:gone', chatId: 'c1' });
  conversation.open('c1');
  expect(conversation.chat).toBeUndefined();
  expect(asked.map(([, after]) => after)).toEqual([0, 0, 0]);
});

test('a chat that could not be read for a while is asked for again, until it is there', () => {
  conversation.open('c1');
  const error = { code: 'storage', params: {}, message: 'It cannot be read.' };
  conversation.take({ type: 'error', chatId: 'c1', error });
  expect(conversation.problem).toEqual({ missing: false, error });
  vi.advanceTimersByTime(5_000);
  expect(asked).toHaveLength(2);
  conversation.take({ type: 'error', chatId: 'c1', error });
  read();
  expect(conversation.problem).toBeUndefined();
  expect(texts()).toEqual(['Hello?']);
  vi.advanceTimersByTime(60_000);
  expect(asked).toHaveLength(2);

  conversation.take({ type: 'error', chatId: 'c1', error: { ...error, code: 'not_found' } });
  vi.advanceTimersByTime(60_000);
  expect(asked).toHaveLength(2);
});

test('what was missed in a chat that is shown comes though nothing else happens in it', () => {
  conversation.open('c1');
  read();
  const error = { code: 'storage', params: {}, message: 'It cannot be read.' };
  conversation.take({ type: 'error', chatId: 'c1', error });
  conversation.take(caughtUp(1));
  vi.advanceTimersByTime(1_000);
  expect(conversation.problem).toBeUndefined();
});
