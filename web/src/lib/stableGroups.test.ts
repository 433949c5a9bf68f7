import { expect, test } from 'vitest';
import { stableGroups } from './stableGroups';

test('groups that have not changed stay the same values', () => {
  const items = Array.from({ length: 20 }, (_, n) => ({ n }));
  const before = stableGroups(items, 8);
  expect(before.map(({ start, items }) => [start, items.length])).toEqual([
    [0, 8],
    [8, 8],
    [16, 4],
  ]);
  const grown = stableGroups([...items.with(19, { n: 19 }), { n: 20 }], 8, before);
  expect(grown[0]).toBe(before[0]);
  expect(grown[1]).toBe(before[1]);
  expect(grown[2]?.items.length).toBe(5);
  expect(grown.flatMap(({ items }) => items.map(({ n }) => n))).toEqual(
    Array.from({ length: 21 }, (_, n) => n),
  );
  expect(stableGroups([], 8, grown)).toEqual([]);
});
