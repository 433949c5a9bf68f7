import { expect, test } from 'vitest';
import { findCommands, type Command } from './palette';

const command = (id: string, label: string, change: Partial<Command> = {}) =>
  ({ id, label, run: () => {}, ...change }) as Command;
const commands = [
  command('new', 'New chat'),
  command('page', 'Settings: Appearance', { keywords: 'theme dark 主题' }),
  command('dark', 'Theme: Dark'),
  command('tool', 'Time/Current time', { rare: true, keywords: 'builtin_current_time' }),
];

test('commands are found by every word of their label, then of their keywords', () => {
  const check = (search: string, expected: string[]) =>
    expect(findCommands(commands, search).map(({ id }) => id)).toEqual(expected);
  check('', ['new', 'page', 'dark']);
  check('  ', ['new', 'page', 'dark']);
  check('chat NEW', ['new']);
  check('dark theme', ['dark', 'page']);
  check('主题', ['page']);
  check('current_time', ['tool']);
  check('nothing', []);
});

test('ten thousand commands are searched at once, and only some of them are listed', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => command(`${index}`, `Tool ${index}`));
  const begun = performance.now();
  const found = findCommands(many, 'tool 9');
  expect(performance.now() - begun).toBeLessThan(50);
  expect(found).toHaveLength(100);
});
