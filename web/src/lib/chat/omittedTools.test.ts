import { errorDetail } from '$lib/i18n/errorFixture';
import { expect, test } from 'vitest';
import type { OmittedTool } from '$lib/api/types';
import type { Turn } from './chat';
import { omittedToolLines, newlyOmittedTools } from './omittedTools';

const tool = (toolId: string, why: string): OmittedTool => ({
  toolId,
  displayName: toolId,
  why: errorDetail(why),
});
const turn = (...leftOut: OmittedTool[]): Turn => ({
  id: 't',
  text: '',
  startedAt: 0,
  messages: [],
  calls: {},
  leftOut,
});

test('many that share a reason are said once, few by name', () => {
  const check = (tools: OmittedTool[], ...expected: [count: number, why: string][]) =>
    expect(omittedToolLines(tools).map(({ tools, why }) => [tools.length, why.message])).toEqual(
      expected,
    );
  const same = (count: number) => Array.from({ length: count }, (_, i) => tool(`t${i}`, 'None.'));
  check([]);
  check(same(3), [1, 'None.'], [1, 'None.'], [1, 'None.']);
  check(same(4), [4, 'None.']);
  check([...same(12), tool('x', 'Too big.')], [12, 'None.'], [1, 'Too big.']);
});

test('the same reason is told by its code and parameters, not by its words', () => {
  const limit = (id: string, max: string, message: string): OmittedTool => ({
    ...tool(id, ''),
    why: { code: 'too_many_tools', message, params: { max } },
  });
  const before = turn(limit('a', '5', 'At most 5.'));
  expect(newlyOmittedTools(turn(limit('a', '5', 'No more than 5.')), before)).toEqual([]);
  expect(newlyOmittedTools(turn(limit('a', '6', 'At most 5.')), before)).toHaveLength(1);
  const five = ['a', 'b', 'c', 'd'].map((id) => limit(id, '5', id));
  expect(omittedToolLines(five)).toHaveLength(1);
});

test('what was left out before is not said again', () => {
  const [a, b] = [tool('a', 'No.'), tool('b', 'No.')];
  expect(newlyOmittedTools(turn(a, b), undefined)).toEqual([a, b]);
  expect(newlyOmittedTools(turn(a, b), turn(b, a))).toEqual([]);
  expect(newlyOmittedTools(turn(a, b), turn(a))).toEqual([a, b]);
  expect(newlyOmittedTools(turn(tool('a', 'Now for this.')), turn(a))).toHaveLength(1);
  expect(newlyOmittedTools(turn(), turn(a))).toEqual([]);
});
