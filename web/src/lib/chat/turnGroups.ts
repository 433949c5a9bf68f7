// The turns of a long chat in groups, so that what is far from the reader is one thing and not many.
import type { Turn } from './chat';

export interface TurnGroup {
  /** The number of its first turn. */
  start: number;
  turns: readonly Turn[];
}

const GROUP_SIZE = 8;

/** Keeps the groups of `before` that are still the same, so that nothing is drawn again for them. */
export function turnGroups(
  turns: readonly Turn[],
  before: readonly TurnGroup[] = [],
): readonly TurnGroup[] {
  const groups: TurnGroup[] = [];
  for (let start = 0; start < turns.length; start += GROUP_SIZE) {
    const known = before[groups.length];
    const end = Math.min(start + GROUP_SIZE, turns.length);
    const isSame =
      known?.turns.length === end - start &&
      known.turns.every((turn, index) => turn === turns[start + index]);
    groups.push(isSame ? known : { start, turns: turns.slice(start, end) });
  }
  return groups;
}
