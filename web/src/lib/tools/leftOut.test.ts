import { expect, test } from 'vitest';
import type { ToolView } from '$lib/api/types';
import { storeDevice } from '$lib/local/device';
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

const on = (deviceId: string) => ({ source: { state: 'ready', local: { deviceId } } });

test('each tool that the model does not get has one reason', () => {
  storeDevice({ id: 'laptop', name: 'Laptop' });
  const why = { code: 'x', message: 'Too many.', params: {} };
  const tools = [
    tool('a'),
    tool('b', { enabled: false }),
    tool('c', { policy: 'deny', source: { state: 'offline' } }),
    tool('d', { source: { state: 'offline' } }),
    tool('e_other'),
    tool('a_gets'),
    tool('a_result'),
    tool('a_here', on('laptop')),
    tool('a_desktop', on('desk')),
    tool('a_named', on('desk')),
  ];
  const omitted = [{ toolId: 'a', displayName: 'A', why }];
  const context = { tools: ['a_gets', 'a_here', 'a_named'], leftOut: omitted, deferred: 0 };
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
    elsewhere: 2,
    bySearch: 0,
    omitted: [],
  });
});

test('other computers are elsewhere only where this one has tools that can be called', () => {
  storeDevice({ id: 'laptop', name: 'Laptop' });
  const desk = [tool('now', on('desk')), tool('later', on('desk'))];
  const check = (here: ToolView[], expected: object) => {
    const context = { tools: ['now', 'server'], leftOut: [], deferred: 0 };
    const all = [tool('server'), ...desk, ...here];
    expect(leftOutTools(all, ['*'], context)).toMatchObject(expected);
  };
  check([tool('mine', on('laptop'))], { elsewhere: 1, whenNeeded: 1 });
  check([], { elsewhere: 0, whenNeeded: 1 });
  check([tool('mine', { ...on('laptop'), enabled: false })], { elsewhere: 0, off: 1 });
  const away = { source: { state: 'offline', local: { deviceId: 'laptop' } } };
  check([tool('mine', away)], { elsewhere: 0, away: 1 });
});
