import { expect, test } from 'vitest';
import type { ToolView } from '$lib/api/types';
import { localizedName, localizedSourceTitle, localizedTool, noBuiltinTexts } from './builtinTexts';
import { builtinsZhHans } from './zh-hans';
import { builtinsZhHant } from './zh-hant';

const tool = (change: object = {}) =>
  ({
    toolId: 'builtin_current_time',
    displayName: 'Time/Current time',
    title: 'Current time',
    description: 'Tells the time.',
    source: { id: 'builtin:time', kind: 'builtin', name: 'time', title: 'Time' },
    ...change,
  }) as ToolView;

test('built-in tools have the same words in both kinds of Chinese', () => {
  expect(Object.keys(builtinsZhHans.tools)).toEqual(Object.keys(builtinsZhHant.tools));
  expect(Object.keys(builtinsZhHans.sources)).toEqual(Object.keys(builtinsZhHant.sources));
});

test('a built-in tool is shown in the language of the page, and found by its English name', () => {
  const shown = localizedTool(tool(), builtinsZhHans);
  expect([shown.displayName, shown.title, shown.source.title, shown.keywords]).toEqual([
    '时间/当前时间',
    '当前时间',
    '时间',
    'Time/Current time',
  ]);
  expect(shown.description).toMatch(/时区/);
  expect(localizedTool(tool(), noBuiltinTexts)).toEqual(tool());
});

test('a tool of somebody else keeps its own words', () => {
  const other = tool({ source: { id: 'x', kind: 'mcp', name: 'time', title: 'Time' } });
  expect(localizedTool(other, builtinsZhHans)).toBe(other);
  const unknown = tool({ toolId: 'builtin_new' });
  expect(localizedTool(unknown, builtinsZhHans)).toBe(unknown);
});

test('a call is named as its tool is', () => {
  const check = (id: string, name: string, expected: string) =>
    expect(localizedName(id, name, builtinsZhHant)).toBe(expected);
  check('builtin_calculate', 'Math/Calculate', '數學/計算');
  check('mcp_time_current_time', 'Time/Current time', 'Time/Current time');
  check('builtin_calculate', 'Calculate', 'Calculate');
});

test('a source is named as in the list of tools', () => {
  const check = (id: string, title: string, expected: string) =>
    expect(localizedSourceTitle(id, title, builtinsZhHans)).toBe(expected);
  check('builtin:math', 'Math', '数学');
  check('builtin:new', 'New', 'New');
  check('mcp:math', 'Math', 'Math');
  expect(localizedSourceTitle('builtin:math', 'Math', noBuiltinTexts)).toBe('Math');
});
