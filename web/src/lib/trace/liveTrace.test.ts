import { expect, test } from 'vitest';
import type { Call, Turn } from '$lib/chat/chat';
import { turnProgress } from './liveTrace.svelte';

const call = (change: Partial<Call>): Call => ({
  id: 'c',
  messageId: 'm',
  toolId: 't',
  displayName: 'T',
  input: {},
  status: 'pending',
  asked: false,
  ...change,
});

const turn = (text: string, change: Partial<Call> = {}): Turn => ({
  id: 'turn',
  text: '?',
  startedAt: 0,
  messages: [{ id: 'm', startedAt: 0, parts: [{ type: 'text', text }] }],
  calls: { c: call(change) },
});

test('a trace is read again when a call goes on, and not at every word', () => {
  const before = turnProgress(turn('Hel'));
  expect(turnProgress(turn('Hello'))).toBe(before);
  expect(turnProgress(turn('Hello', { progress: { progress: 1 } }))).toBe(before);
  const later = [
    turn('Hel', { status: 'running' }),
    turn('Hel', { asked: true }),
    turn('Hel', { verdict: 'once' }),
    { ...turn('Hel'), outcome: { kind: 'done' } as const },
    { ...turn('Hel'), messages: [{ id: 'm', startedAt: 0, finishedAt: 5, parts: [] }] },
  ];
  for (const turn of later) expect(turnProgress(turn)).not.toBe(before);
  expect(turnProgress(undefined)).toBe('');
});
