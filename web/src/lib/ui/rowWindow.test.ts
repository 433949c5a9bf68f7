import { expect, test } from 'vitest';
import { rowsNear } from './rowWindow.svelte';

test('rows in view and near it are drawn, and no others', () => {
  const check = (top: number, count: number, expected: [number, number]) => {
    const { first, end } = rowsNear({ top, height: 500 }, 50, count);
    expect([first, end]).toEqual(expected);
  };
  check(0, 10_000, [0, 16]);
  check(300, 10_000, [0, 10]);
  check(-5_000, 10_000, [94, 116]);
  check(-499_900, 10_000, [9_992, 10_000]);
  check(0, 3, [0, 3]);
  check(0, 0, [0, 0]);
  // Far below what is seen, and far above.
  check(9_000, 100, [0, 0]);
  check(-90_000, 100, [100, 100]);
});
