import { expect, test } from 'vitest';
import type { ExpertView, ToolView } from '$lib/api/types';
import { matchMentions } from './mention';
import { mentionQuery, withoutMention } from './mentionQuery';

test('a mention begins a word, and ends where the caret is', () => {
  const check = (text: string, expected: string | undefined, caret = text.length) =>
    expect(mentionQuery(text, caret)).toBe(expected);
  check('@', '');
  check('@ti', 'ti');
  check('What time? @时', '时');
  check('line\n@ti', 'ti');
  check('@time is it', undefined);
  check('@time is it', 'ti', 3);
  check('ann@example.com', undefined);
  check('', undefined);
});

test('what was typed of a mention goes when it is chosen, and the rest stays', () => {
  expect(withoutMention('What @ti now', 8)).toEqual({ text: 'What  now', caret: 5 });
  expect(withoutMention('no mention', 10)).toEqual({ text: 'no mention', caret: 10 });
});

test('experts and tools are found by their names, those that begin so first', () => {
  const expert = (id: string, title: string) =>
    ({ id, name: id, title, builtin: false }) as unknown as ExpertView;
  const tool = (toolId: string, title: string) =>
    ({ toolId, title, toolName: title, displayName: `Source/${title}` }) as unknown as ToolView;
  const keys = (query: string) =>
    matchMentions(
      query,
      [expert('sums', 'Sums'), expert('law', 'Law of time')],
      [tool('builtin_time', 'time'), tool('builtin_sum', 'calculate')],
    ).map(({ key }) => key);
  expect(keys('')).toEqual(['sums', 'law', 'builtin_time', 'builtin_sum']);
  expect(keys('TIME')).toEqual(['builtin_time', 'law']);
  expect(keys('sum')).toEqual(['sums']);
  expect(keys('lculate')).toEqual(['builtin_sum']);
  expect(keys('source')).toEqual(['builtin_time', 'builtin_sum']);
  expect(keys('builtin')).toEqual([]);
  expect(keys('nothing')).toEqual([]);
});
