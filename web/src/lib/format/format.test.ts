import { expect, test } from 'vitest';
import { summary } from '$lib/chat/fixtures';
import { formatCost, formatCount } from './amount';
import { formatBytes } from './bytes';
import { truncateTitle } from './truncate';
import { formatDay, groupByDay } from './day';
import { formatDuration } from './duration';
import { stripMarkdown } from './stripMarkdown';

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

test('a long title is truncateTitle where it is only named', () => {
  expect(truncateTitle('Time in Tokyo')).toBe('Time in Tokyo');
  expect(truncateTitle('語'.repeat(49))).toBe(`${'語'.repeat(47)}…`);
});

test('a snippet is read without the marks of Markdown', () => {
  const check = (text: string, expected: string) => expect(stripMarkdown(text)).toBe(expected);
  check('It is **very** `fast`.', 'It is very fast.');
  check('```\ncode', '\ncode');
  check('## Heading\n> said', 'Heading\nsaid');
  check('2 * 3 = snake_case #1', '2 * 3 = snake_case #1');
});

test('bytes are counted in binary units', () => {
  const check = (bytes: number, expected: string) => expect(formatBytes(bytes)).toBe(expected);
  check(812, '812 B');
  check(4300, '4.2 KiB');
  check(1_363_149, '1.3 MiB');
});

test('chats are grouped by calendar day, newest first', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime();
  const chat = (id: string, updatedAt: number) => summary(id, { updatedAt });
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

test('money has enough digits, and a sign only where it is unmistakable', () => {
  const check = (currency: string, micros: number, locale: string, expected: string) =>
    expect(formatCost({ currency, micros }, locale)).toBe(expected);
  check('USD', 12_300, 'en', '$0.0123');
  check('USD', 12_345, 'en', '$0.0123');
  check('USD', 45, 'en', '$0.000045');
  check('USD', 1, 'en', '$0.000001');
  check('USD', 0, 'en', '$0.00');
  check('USD', 500_000, 'en', '$0.5');
  check('USD', 1_234_567, 'en', '$1.23');
  check('USD', 1_234_567_000, 'en', '$1,234.57');
  check('EUR', 12_300, 'en', '€0.0123');
  check('CNY', 12_300, 'en', '0.0123 CNY');
  check('CNY', 12_300, 'zh-Hans', '¥0.0123');
  check('USD', 12_300, 'zh-Hans', '0.0123 USD');
  check('CNY', 12_300, 'zh-Hant', '0.0123 CNY');
  check('€', 12_300, 'en', '0.0123 €');
  check('credits', 1_500_000, 'en', '1.50 credits');
});

test('counts are grouped as the language does', () => {
  expect(formatCount(12_045, 'en')).toBe('12,045');
  expect(formatCount(12_045, 'zh-Hans')).toBe('12,045');
});

test('a day is read without its year while that is this one', () => {
  const now = new Date(2026, 10, 15);
  const check = (at: Date, locale: string, expected: string) =>
    expect(formatDay(at.getTime(), now, locale)).toBe(expected);
  check(new Date(2026, 2, 3), 'en', 'Mar 3');
  check(new Date(2025, 2, 3), 'en', 'Mar 3, 2025');
  check(new Date(2026, 2, 3), 'zh-Hans', '3月3日');
});
