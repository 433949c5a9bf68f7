import { expect, test } from 'vitest';
import { formatBytes } from './bytes';
import { groupByDay } from './day';
import { formatDuration } from './duration';

test('a duration is as exact as it is worth reading', () => {
  const check = (ms: number, expected: string) => expect(formatDuration(ms)).toBe(expected);
  check(0, '< 1 ms');
  check(12, '12 ms');
  check(99.4, '99 ms');
  check(412, '0.4 s');
  check(9_940, '9.9 s');
  check(9_960, '10 s');
  check(59_700, '1 min 0 s');
  check(125_000, '2 min 5 s');
});

test('bytes are counted in binary units', () => {
  const check = (bytes: number, expected: string) => expect(formatBytes(bytes)).toBe(expected);
  check(812, '812 B');
  check(4300, '4.2 KiB');
  check(1_363_149, '1.3 MiB');
});

test('chats are grouped by calendar day, newest first', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime();
  const chat = (id: string, updatedAt: number) => ({ id, title: id, createdAt: 0, updatedAt });
  const groups = groupByDay(
    [
      chat('just before midnight', at(14, 23)),
      chat('morning', at(15, 8)),
      chat('noon', at(15, 12)),
      chat('old', at(2, 12)),
    ],
    new Date(2026, 10, 15, 13),
  );
  expect(groups.map(({ day, chats }) => [day, chats.map(({ id }) => id)])).toEqual([
    ['today', ['noon', 'morning']],
    ['yesterday', ['just before midnight']],
    ['earlier', ['old']],
  ]);
});
