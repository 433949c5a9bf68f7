import { expect, test } from 'vitest';
import type { Turn } from './chat';
import { turnGroups } from './turnGroups';

const turn = (id: string): Turn => ({ id, text: id, startedAt: 0, messages: [], calls: {} });

test('groups that have not changed stay the same values', () => {
  const turns = Array.from({ length: 20 }, (_, n) => turn(`t${n}`));
  const before = turnGroups(turns);
  expect(before.map(({ start, turns }) => [start, turns.length])).toEqual([
    [0, 8],
    [8, 8],
    [16, 4],
  ]);
  const grown = turnGroups([...turns.with(19, turn('t19')), turn('t20')], before);
  expect(grown[0]).toBe(before[0]);
  expect(grown[1]).toBe(before[1]);
  expect(grown[2]?.turns.length).toBe(5);
  expect(grown.flatMap(({ turns }) => turns.map(({ id }) => id))).toEqual(
    Array.from({ length: 21 }, (_, n) => `t${n}`),
  );
  expect(turnGroups([], grown)).toEqual([]);
});
