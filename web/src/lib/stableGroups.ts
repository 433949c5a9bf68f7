// A long list that grows at its end, in groups that stay the same objects while their items do:
// what draws the list looks at the groups, and into the one that changed.

export interface StableGroup<T> {
  /** The number of its first item. */
  start: number;
  items: readonly T[];
}

/** Keeps the groups of `before` that are still the same. */
export function stableGroups<T>(
  items: readonly T[],
  size: number,
  before: readonly StableGroup<T>[] = [],
): readonly StableGroup<T>[] {
  const groups: StableGroup<T>[] = [];
  for (let start = 0; start < items.length; start += size) {
    const known = before[groups.length];
    const end = Math.min(start + size, items.length);
    const isSame =
      known?.items.length === end - start &&
      known.items.every((item, index) => item === items[start + index]);
    groups.push(isSame ? known : { start, items: items.slice(start, end) });
  }
  return groups;
}
