import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api } from '$lib/api/client';
import type { ToolView } from '$lib/api/types';
import { Toolbox } from './toolbox.svelte';

const tool = (toolId: string, more: Partial<ToolView> = {}) =>
  ({
    toolId,
    enabled: true,
    policy: 'allow',
    source: { state: 'ready' },
    ...more,
  }) as unknown as ToolView;

/** A call that is answered when the test says so. */
function later() {
  let resolve = () => {};
  let reject = (_: unknown) => {};
  const promise = new Promise<void>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

async function toolbox(chatId: string | undefined, ...tools: ToolView[]): Promise<Toolbox> {
  vi.spyOn(api, 'tools').mockResolvedValue(tools);
  const box = new Toolbox(chatId);
  await box.refresh();
  return box;
}

const on = (box: Toolbox) => box.on.map(({ toolId }) => toolId);

beforeEach(() => {
  vi.spyOn(api, 'changeTools').mockResolvedValue();
});
afterEach(() => vi.restoreAllMocks());

test('what is on is what the server says, except what cannot be used', async () => {
  const box = await toolbox(
    'a',
    tool('x'),
    tool('off', { enabled: false }),
    tool('denied', { policy: 'deny' }),
    tool('broken', { source: { state: 'failed' } as ToolView['source'] }),
    tool('put away', { source: { state: 'off' } as ToolView['source'] }),
    tool('asleep', { source: { state: 'sleeping' } as ToolView['source'] }),
  );
  expect(on(box)).toEqual(['x', 'asleep']);
});

test('a switch is for the open chat, or for all where none is open', async () => {
  await (await toolbox('a', tool('x'))).switch(['x'], false);
  await (await toolbox(undefined, tool('x'))).switch(['x'], false);
  const tools = [{ toolId: 'x', enabled: false }];
  expect(vi.mocked(api.changeTools).mock.calls).toEqual([
    [{ layer: 'chat', chatId: 'a', tools }],
    [{ layer: 'user', tools }],
  ]);
});

test('a switch shows at once, and goes back when it fails', async () => {
  const box = await toolbox('a', tool('x'), tool('y'));
  const answer = later();
  vi.mocked(api.changeTools).mockReturnValue(answer.promise);
  const switched = box.switch(['x'], false);
  expect(on(box)).toEqual(['y']);
  answer.reject(new Error('no'));
  await expect(switched).rejects.toThrow('no');
  expect(on(box)).toEqual(['x', 'y']);
});

test('a switch that is thrown twice ends as it was left', async () => {
  const box = await toolbox('a', tool('x'));
  const answers = [later(), later()];
  vi.mocked(api.changeTools)
    .mockReturnValueOnce(answers[0]?.promise ?? Promise.reject())
    .mockReturnValueOnce(answers[1]?.promise ?? Promise.reject());
  const first = box.switch(['x'], false);
  const second = box.switch(['x'], true);
  vi.mocked(api.tools).mockResolvedValueOnce([tool('x', { enabled: false })]);
  answers[0]?.resolve();
  await first;
  // The server knows only of the first one yet.
  expect(on(box)).toEqual(['x']);
  answers[1]?.resolve();
  await second;
  expect(on(box)).toEqual(['x']);
  const sent = vi.mocked(api.changeTools).mock.calls.map(([change]) => change.tools[0]?.enabled);
  expect(sent).toEqual([false, true]);
});

test('what this chat alone uses can be used in all', async () => {
  const box = await toolbox('a', tool('x', { enabled: false, enabledBy: 'chat' }), tool('y'));
  await box.switchEverywhere();
  expect(vi.mocked(api.changeTools).mock.calls).toEqual([
    [{ layer: 'user', tools: [{ toolId: 'x', enabled: false }] }],
    [{ layer: 'chat', chatId: 'a', tools: [{ toolId: 'x', enabled: null }] }],
  ]);
});

const from = (id: string, more: Partial<ToolView['source']> = {}) =>
  ({ source: { id, state: 'ready', ...more } }) as Partial<ToolView>;

test('a source is switched with all that it will have, and its tools follow it', async () => {
  const tools = [tool('x', from('s')), tool('y', { enabledBy: 'chat', ...from('s') })];
  const box = await toolbox('a', ...tools, tool('z', { enabledBy: 'chat', ...from('other') }));
  const answer = later();
  vi.mocked(api.changeTools).mockReturnValueOnce(answer.promise);
  const switched = box.switch(['x', 'y'], false, 's');
  expect(on(box)).toEqual(['z']);
  answer.resolve();
  await switched;
  const back = [{ toolId: 'y', enabled: null }];
  const sources = [{ sourceId: 's', enabled: false }];
  expect(vi.mocked(api.changeTools).mock.calls).toEqual([
    [{ layer: 'chat', chatId: 'a', tools: back, sources }],
  ]);
});

test('a source that this chat alone uses can be used in all', async () => {
  const switched = { enabled: false, by: 'chat' } as const;
  const here = { enabledBy: 'chat', ...from('s', { switched }) } as const;
  const box = await toolbox('a', tool('x', { enabled: false, ...here }), tool('y', here));
  await box.switchEverywhere();
  const tools = [
    { toolId: 'x', enabled: null },
    { toolId: 'y', enabled: true },
  ];
  const back = tools.map(({ toolId }) => ({ toolId, enabled: null }));
  expect(vi.mocked(api.changeTools).mock.calls).toEqual([
    [{ layer: 'user', tools, sources: [{ sourceId: 's', enabled: false }] }],
    [{ layer: 'chat', chatId: 'a', tools: back, sources: [{ sourceId: 's', enabled: null }] }],
  ]);
});

test('a policy of a source is that of all its tools, here and elsewhere', async () => {
  const tools = [
    tool('x', from('s')),
    tool('y', { policyBy: 'user', ...from('s') }),
    tool('z', { policyBy: 'chat', ...from('s') }),
  ];
  const ids = ['x', 'y', 'z'];
  await (await toolbox('a', ...tools)).setPolicy(ids, 'allow', 'user', 's');
  await (await toolbox('a', ...tools.slice(0, 2))).setPolicy(ids.slice(0, 2), null, 'user', 's');
  const sources = [{ sourceId: 's', policy: 'allow' }];
  const none = [{ sourceId: 's', policy: null }];
  const [y, z] = ['y', 'z'].map((toolId) => ({ toolId, policy: null }));
  expect(vi.mocked(api.changeTools).mock.calls).toEqual([
    [{ layer: 'user', tools: [y, z], sources }],
    [{ layer: 'chat', chatId: 'a', tools: [z], sources: none }],
    [{ layer: 'user', tools: [y], sources: none }],
  ]);
});

test('a policy is for all chats, also where this chat said otherwise', async () => {
  const box = await toolbox('a', tool('x', { policyBy: 'chat' }), tool('y'));
  await box.setPolicy(['x'], 'ask');
  await box.setPolicy(['y'], 'deny', 'organisation');
  expect(vi.mocked(api.changeTools).mock.calls).toEqual([
    [{ layer: 'user', tools: [{ toolId: 'x', policy: 'ask' }] }],
    [{ layer: 'chat', chatId: 'a', tools: [{ toolId: 'x', policy: null }] }],
    [{ layer: 'organisation', tools: [{ toolId: 'y', policy: 'deny' }] }],
  ]);
});

test('one layer of a policy is taken back at a time', async () => {
  const forget = [{ toolId: 'x', policy: null }];
  await (await toolbox('a', tool('x', { policyBy: 'chat' }))).setPolicy(['x'], null);
  await (await toolbox('a', tool('x', { policyBy: 'user' }))).setPolicy(['x'], null);
  expect(vi.mocked(api.changeTools).mock.calls).toEqual([
    [{ layer: 'chat', chatId: 'a', tools: forget }],
    [{ layer: 'user', tools: forget }],
  ]);
});

test('a list that a later one has overtaken is not shown', async () => {
  const box = await toolbox('a', tool('x'));
  let answerLate = (_: ToolView[]) => {};
  vi.mocked(api.tools)
    .mockReturnValueOnce(new Promise((resolve) => (answerLate = resolve)))
    .mockResolvedValue([tool('y')]);
  const late = box.refresh();
  await box.refresh();
  answerLate([tool('x')]);
  await late;
  expect(on(box)).toEqual(['y']);
});

test('the list of a chat that was left meanwhile is not taken for that of the open one', async () => {
  const box = await toolbox('a', tool('x'));
  let answerLate = (_: ToolView[]) => {};
  vi.mocked(api.tools)
    .mockReturnValueOnce(new Promise((resolve) => (answerLate = resolve)))
    .mockResolvedValue([tool('y')]);
  const late = box.refresh();
  await box.open('b');
  answerLate([tool('x')]);
  await late;
  expect(on(box)).toEqual(['y']);
});

test('a policy for many is one request for as many as the server takes', async () => {
  const tools = Array.from({ length: 2001 }, (_, index) => tool(`t${index}`));
  const box = await toolbox('a', tool('x', { policyBy: 'chat' }), ...tools);
  const ids = box.tools.map(({ toolId }) => toolId);
  await box.setPolicy(ids, 'ask');
  const sent = vi
    .mocked(api.changeTools)
    .mock.calls.map(([{ layer, tools }]) => [layer, tools.length]);
  expect(sent).toEqual([
    ['user', 2000],
    ['user', 2],
    ['chat', 1],
  ]);
});

test('a tool that was not changed stays the same object', async () => {
  const box = await toolbox('a', tool('x'), tool('y'));
  const before = box.tools;
  const answer = later();
  vi.mocked(api.changeTools).mockReturnValue(answer.promise);
  const switched = box.switch(['x'], false);
  expect(box.tools[0]).not.toBe(before[0]);
  expect(box.tools[1]).toBe(before[1]);
  answer.resolve();
  await switched;
});
