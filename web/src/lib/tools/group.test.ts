import { expect, test } from 'vitest';
import type { SourceState, ToolView } from '$lib/api/types';
import { bySource, groupBySource, matchingTools, visibleTools } from './group';

function tool(source: string, name: string, more: object = {}): ToolView {
  return {
    toolId: `${source}_${name}`,
    displayName: `${source}/${name}`,
    toolName: name,
    description: `Does ${name}.`,
    source: { id: source, name: source, title: '', kind: 'mcp', state: 'ready' },
    runsOn: 'server',
    enabled: true,
    policy: 'allow',
    ...more,
  } as unknown as ToolView;
}
const inState = (state: SourceState['state'], id: string) => ({
  source: { id, name: id, title: '', kind: 'browser', state },
});
const shape = (tools: readonly ToolView[], filter = '') =>
  groupBySource(matchingTools(tools, filter), bySource(tools)).map(({ source, tools }) => [
    source.id,
    ...tools.map(({ toolName }) => toolName),
  ]);

test('tools stand under their sources, and those that are away at the end', () => {
  const tools = [
    tool('a', 'one'),
    tool('gone', 'two', inState('offline', 'gone')),
    tool('b', 'three'),
    tool('a', 'four'),
  ];
  expect(shape(tools)).toEqual([
    ['a', 'one', 'four'],
    ['b', 'three'],
    ['gone', 'two'],
  ]);
  expect(shape(tools, 'THREE')).toEqual([['b', 'three']]);
  expect(shape(tools, 'a_ does')).toEqual([['a', 'one', 'four']]);
  const clock = tool('a', 'clock', { keywords: '现在几点, 時間' });
  expect(shape([...tools, clock], '時間')).toEqual([['a', 'clock']]);
  expect(shape(tools, 'nothing')).toEqual([]);
});

test('the view of what is on shows what the next message may use', () => {
  const on = tool('a', 'on');
  const off = tool('a', 'off', { enabled: false });
  const denied = tool('a', 'denied', { policy: 'deny' });
  const asks = tool('a', 'asks', { policy: 'ask' });
  const away = tool('gone', 'away', inState('offline', 'gone'));
  const failed = tool('bad', 'failed', inState('failed', 'bad'));
  const local = tool('here', 'local', inState('ready', 'here'));
  const all = [on, off, denied, asks, away, failed, local];
  expect(visibleTools('all', all, new Set())).toEqual(all);
  expect(visibleTools('on', all, new Set())).toEqual([on, asks, local]);
  expect(visibleTools('on', all, new Set(['a_off']))).toEqual([on, off, asks, local]);
});

test('a group knows what it does not show', () => {
  const tools = [tool('a', 'one'), tool('a', 'two'), tool('b', 'three')];
  const [group, ...others] = groupBySource(matchingTools(tools, 'two'), bySource(tools));
  expect([group?.tools.length, group?.all.length, others.length]).toEqual([1, 2, 0]);
});

test('ten thousand tools are filtered within a frame or two', () => {
  const description = 'Reads what a person asked for, and says what it found there. '.repeat(6);
  const tools = Array.from({ length: 10_000 }, (_, index) =>
    tool(`source${index % 20}`, `operation_${index}`, { description }),
  );
  const all = bySource(tools);
  const typed = ['o', 'op', 'ope', 'operation_99', 'operation_999', 'found operation_9', 'none'];
  const times = typed.map((filter) => {
    const began = performance.now();
    groupBySource(matchingTools(tools, filter), all);
    return performance.now() - began;
  });
  // The first keystroke makes the texts that are searched.
  expect(Math.min(...times)).toBeLessThan(20);
  expect(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]).toBeLessThan(50);
  expect(matchingTools(tools, 'operation_9999')).toHaveLength(1);
});
