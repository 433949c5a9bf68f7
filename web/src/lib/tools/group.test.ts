import { expect, test } from 'vitest';
import type { SourceState, ToolView } from '$lib/api/types';
import { groupBySource, visibleTools } from './group';

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
  groupBySource(tools, filter).map(({ source, tools }) => [
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
