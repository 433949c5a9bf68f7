import { expect, test } from 'vitest';
import { moveInMenu } from './menu';

test('arrows go round, letters jump, other keys stay', () => {
  const labels = ['System', 'Light', 'Dark', 'Lavender'];
  const check = (key: string, from: number, expected: number) =>
    expect(moveInMenu(key, labels, from), `${key} from ${from}`).toBe(expected);
  check('ArrowDown', 0, 1);
  check('ArrowDown', 3, 0);
  check('ArrowUp', 0, 3);
  check('Home', 2, 0);
  check('End', 0, 3);
  check('l', 0, 1);
  check('L', 1, 3);
  check('l', 3, 1);
  check('z', 2, 2);
  check('Shift', 2, 2);
});
