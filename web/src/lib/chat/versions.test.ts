import { expect, test } from 'vitest';
import { shownTurns, type Chat } from './chat';
import { FrameBuilder } from './fixtures';
import { turnPlaces, turnVersions } from './versions';

/** Asked, answered again, edited, answered again, and the first question asked once more. */
const forked = () =>
  new FrameBuilder()
    .turnStarted('One', 'a')
    .done('a')
    .turnStarted('One', 'b', undefined, { after: null })
    .done('b')
    .turnStarted('Two', 'c', undefined, { after: null })
    .done('c')
    .turnStarted('Two', 'd', undefined, { after: null })
    .done('d')
    .turnStarted('One', 'e', undefined, { after: null })
    .done('e')
    .replay();

function check(chat: Chat, id: string, edits: string, answers: string) {
  const turn = chat.turns.find((turn) => turn.id === id);
  if (!turn) throw new Error(`no turn ${id}`);
  const versions = turnVersions(turnPlaces(chat), turn);
  const ids = (turns = [turn]) => turns.map(({ id }) => id).join(' ');
  expect([ids(versions?.edits.slice()), ids(versions?.answers.slice())], id).toEqual([
    edits,
    answers,
  ]);
}

test('edits and answers are counted apart', () => {
  const chat = forked();
  check(chat, 'a', 'a d', 'a b e');
  check(chat, 'b', 'b d', 'a b e');
  check(chat, 'c', 'e c', 'c d');
  check(chat, 'e', 'e d', 'a b e');
});

test('a turn alone in its place has no versions', () => {
  const chat = new FrameBuilder()
    .turnStarted('One', 'a')
    .done('a')
    .turnStarted('One', 'b')
    .done('b')
    .replay();
  const places = turnPlaces(chat);
  expect(shownTurns(chat).map((turn) => turnVersions(places, turn))).toEqual([
    undefined,
    undefined,
  ]);
});
