import { expect, test } from 'vitest';
import type { ToolView } from '$lib/api/types';
import { leftOutTools } from './leftOut';

const tool = (toolId: string, more: object = {}) =>
  ({
    toolId,
    displayName: toolId.toUpperCase(),
    enabled: true,
    policy: 'allow',
    source: { state: 'ready' },
    ...more,
  }) as unknown as ToolView;

test('each tool that the model does not get has one reason', () => {
  const why = { code: 'x', message: 'Too many.', params: {} };
  const tools = [
    tool('a'),
    tool('b', { enabled: false }),
    tool('c', { policy: 'deny', source: { state: 'offline' } }),
    tool('d', { source: { state: 'offline' } }),
    tool('e_other'),
    tool('a_gets'),
    tool('a_result'),
    tool('a_desktop', { source: { state: 'ready', local: { deviceId: 'another' } } }),
  ];
  const omitted = [{ toolId: 'a', displayName: 'A', why }];
  const context = { tools: ['a_gets'], leftOut: omitted, deferred: 0 };
  expect(leftOutTools(tools, ['a*'], context)).toEqual({
    off: 2,
    away: 1,
    byExpert: 1,
    whenNeeded: 1,
    elsewhere: 1,
    bySearch: 0,
    omitted,
  });
  const searching = { ...context, deferred: 1 };
  expect(leftOutTools(tools, ['a*'], searching)).toMatchObject({ whenNeeded: 0, bySearch: 1 });
  expect(leftOutTools(tools, undefined, undefined)).toEqual({
    off: 2,
    away: 1,
    byExpert: 0,
    whenNeeded: 0,
    elsewhere: 0,
    bySearch: 0,
    omitted: [],
  });
});
