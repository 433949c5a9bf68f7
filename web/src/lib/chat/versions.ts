// What else stands or stood in the place of a turn. A message can be written anew, and each
// way of writing it can be answered again: those are two rows of versions, not one.
import type { Turn, Chat } from './chat';

export interface TurnVersions {
  /** One turn for each thing that was asked in this place, oldest first: the turn itself, and
      of the other questions their latest answer. */
  edits: readonly Turn[];
  /** The answers to the question of the turn, itself included, oldest first. */
  answers: readonly Turn[];
}

/** The turns of a chat by the place they stand in. Made once for a chat, since every turn of a long
    one asks. */
export type TurnPlaces = ReadonlyMap<string | undefined, readonly Turn[]>;

export function turnPlaces({ turns }: Pick<Chat, 'turns'>): TurnPlaces {
  const places = new Map<string | undefined, Turn[]>();
  for (const turn of turns) {
    const place = places.get(turn.parent);
    if (place) place.push(turn);
    else places.set(turn.parent, [turn]);
  }
  return places;
}

/** Absent where there is only this one. */
export function turnVersions(places: TurnPlaces, turn: Turn): TurnVersions | undefined {
  const siblings = places.get(turn.parent) ?? [];
  if (siblings.length < 2) return undefined;
  const questions: Turn[][] = [];
  for (const sibling of siblings) {
    const same = questions.find(([first]) => first && asksTheSame(first, sibling));
    if (same) same.push(sibling);
    else questions.push([sibling]);
  }
  const answers = questions.find((turns) => turns.includes(turn)) ?? [turn];
  const edits = questions.flatMap((turns) => (turns === answers ? [turn] : turns.slice(-1)));
  return { edits, answers };
}

function asksTheSame(one: Turn, other: Turn): boolean {
  return (
    one.text === other.text &&
    isSameList(one.images, other.images, ({ data }) => data) &&
    isSameList(one.files, other.files, ({ id }) => id)
  );
}

function isSameList<T>(
  one: readonly T[] = [],
  other: readonly T[] = [],
  identity: (item: T) => string,
): boolean {
  const names = other.map(identity);
  return one.length === names.length && one.every((item, index) => identity(item) === names[index]);
}
