import { expect, test } from 'vitest';
import { answerPieces, answerText } from './answer';
import { callPart, FrameBuilder } from './fixtures';
import type { Turn } from './chat';

function turn(): Turn {
  const chat = new FrameBuilder()
    .turnStarted('Hi')
    .messageStarted('m1')
    .messageFinished(
      'm1',
      { type: 'thinking', text: 'x'.repeat(75) },
      { type: 'opaque' },
      { type: 'text', text: 'y'.repeat(25) },
    )
    .messageStarted('m2')
    .messageFinished('m2', { type: 'text', text: ' ' }, callPart('call1'))
    .callRequested('call1', 'm2')
    .messageStarted('m3')
    .messageFinished('m3', { type: 'text', text: 'The end.' })
    .replay();
  const found = chat.turns[0];
  if (!found) throw new Error('the builder has a turn');
  return found;
}

test('the messages of a turn are joined in order, without empty text', () => {
  expect(answerPieces(turn()).map((piece) => [piece.key, piece.kind])).toEqual([
    ['m1/0', 'thought'],
    ['m1/2', 'text'],
    ['m2/1', 'call'],
    ['m3/0', 'text'],
  ]);
});

test('a thought gets its share of the time of its message', () => {
  expect(answerPieces(turn())[0]).toMatchObject({ durationMs: 750, writing: false });
});

test('a text cut by its citations is one text', () => {
  const chat = new FrameBuilder()
    .turnStarted('Hi')
    .messageStarted('m1')
    .messageFinished('m1', { type: 'text', text: 'It is ' }, { type: 'text', text: '7 degrees.' })
    .replay();
  const pieces = chat.turns.flatMap(answerPieces);
  expect(pieces).toMatchObject([{ key: 'm1/0', kind: 'text', text: 'It is 7 degrees.' }]);
});

test('only the words are copied', () => {
  expect(answerText(turn())).toBe(`${'y'.repeat(25)}\n\nThe end.`);
});
