import { expect, test } from 'vitest';
import type { ExportedMessage, ExportedTurn } from '$lib/api/types';
import { answerPieces } from './answer';
import { sharedTurns } from './shared';
import { callPart, noUsage, record } from './fixtures';

const message = (
  id: string,
  role: 'user' | 'assistant',
  ...parts: ExportedMessage['parts']
): ExportedMessage => ({ id, role, parts, toolCalls: [], createdAt: 5 });

function turn(call = record('call1', 'm1')): ExportedTurn {
  return {
    id: 't1',
    messages: [
      message('m0', 'user', { type: 'text', text: 'What time is it?' }),
      { ...message('m1', 'assistant', callPart('call1')), toolCalls: [call] },
      message('m2', 'assistant', { type: 'text', text: '09:12' }),
    ],
    outcome: { kind: 'done' },
    usage: noUsage,
  };
}

const shared = (turn: ExportedTurn) =>
  sharedTurns({ title: 'Time', createdAt: 0, turns: [turn] })[0];

test('a shared turn reads as it does in its chat', () => {
  const shown = shared(turn());
  expect(shown?.text).toBe('What time is it?');
  expect(shown && answerPieces(shown).map(({ kind }) => kind)).toEqual(['call', 'text']);
});

test('a picture stands with what was asked', () => {
  const picture = { type: 'image', mediaType: 'image/png', data: 'aGk=' } as const;
  const [, ...answer] = turn().messages;
  const asked = message('m0', 'user', { type: 'text', text: 'What is it?' }, picture);
  const shown = shared({ ...turn(), messages: [asked, ...answer] });
  expect(shown).toMatchObject({ text: 'What is it?', images: [picture] });
  expect(shared(turn())?.images).toBeUndefined();
});

test('what its owner decided and what only they can open is not shown', () => {
  const output = {
    content: [
      { type: 'text', text: 'a' },
      { type: 'blob', blobId: 'b', mediaType: 'text/plain', bytes: 1 },
    ],
  } as const;
  const call = { ...record('call1', 'm1'), verdict: 'always', asked: true, output } as const;
  const shown = shared(turn(call as never))?.calls.call1;
  expect(shown).toEqual({
    ...record('call1', 'm1'),
    asked: false,
    output: { content: [{ type: 'text', text: 'a' }] },
  });
});

test('a call that was refused is shown so', () => {
  const error = { kind: 'denied', message: 'Do not try again.' };
  const call = { ...record('call1', 'm1'), error };
  expect(shared(turn(call as never))?.calls.call1?.verdict).toBe('denied');
});

test('a turn that ran when it was shared is shown as far as it was', () => {
  expect(shared({ ...turn(), outcome: undefined })?.outcome).toEqual({ kind: 'done' });
});
