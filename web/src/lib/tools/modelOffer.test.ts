import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '$lib/api/client';
import { modelContext } from '$lib/api/modelContext';
import type { ContextView, ToolView } from '$lib/api/types';
import { storeDevice } from '$lib/local/device';
import { ModelOffer } from './modelOffer.svelte';

const why = { code: 'tools_too_many', message: 'Too many.', params: {} };
const context = (tools: number, leftOut: string[] = [], deferred = 0): ContextView => ({
  systemTokens: 0,
  toolTokens: 0,
  historyTokens: 0,
  tools: Array.from({ length: tools }, (_, index) => `t${index}`),
  leftOut: leftOut.map((toolId) => ({ toolId, displayName: toolId, why })),
  deferred,
});

const tool = (toolId: string, deviceId?: string) =>
  ({ toolId, source: { local: deviceId && { deviceId } } }) as unknown as ToolView;
const tools = (count: number) => Array.from({ length: count }, (_, index) => tool(`t${index}`));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function asked(answer: ContextView, on: readonly ToolView[]): Promise<ModelOffer> {
  vi.spyOn(modelContext, 'of').mockResolvedValue(answer);
  const offer = new ModelOffer();
  offer.ask({ chatId: 'a', modelId: 'm' }, on);
  await vi.advanceTimersByTimeAsync(1_000);
  return offer;
}

test('the count is what the model gets', async () => {
  const offer = await asked(context(128, ['x', 'y']), tools(130));
  expect(offer.count(tools(130))).toBe(128);
  expect(offer.context?.leftOut).toHaveLength(2);
});

test('a switch counts at once, unless tools were left out', async () => {
  expect((await asked(context(12), tools(12))).count(tools(11))).toBe(11);
  // Some are offered only when they are needed.
  const some = await asked(context(9), tools(12));
  expect([some.count(tools(12)), some.count(tools(11)), some.count(tools(0))]).toEqual([12, 11, 0]);
  const cut = await asked(context(128, ['x', 'y']), tools(130));
  expect([cut.count(tools(129)), cut.count(tools(100))]).toEqual([128, 100]);
  // What it has to search for it does not get.
  const searching = await asked(context(30, [], 9_970), tools(10_000));
  expect([searching.count(tools(10_000)), searching.count(tools(20))]).toEqual([30, 20]);
  // It takes none, whatever is switched on.
  expect((await asked(context(0), tools(12))).count(tools(13))).toBe(0);
});

test('what is on another computer does not count, unless the model is told of it', async () => {
  storeDevice({ id: 'laptop', name: 'Laptop' });
  const desk = [tool('now', 'desk'), tool('named', 'desk')];
  const both = [...tools(3), tool('here', 'laptop'), ...desk];
  const check = async (answer: ContextView, on: readonly ToolView[], expected: number) =>
    expect((await asked(answer, on)).count(on)).toBe(expected);
  const told = { ...context(3), tools: ['t0', 't1', 't2', 'here', 'named'] };
  await check(told, both, 5);
  const leftOut = { ...told, tools: ['t0', 't1', 'here', 'named'] };
  await check({ ...leftOut, leftOut: context(0, ['t2']).leftOut }, both, 4);
  await check({ ...told, deferred: 1 }, [...tools(2), tool('here', 'laptop'), desk[0]!], 3);
  // A computer that has none of its own uses those of the others.
  await check(context(3), [...tools(3), ...desk], 5);
  // It is known before the server says so.
  expect(new ModelOffer().count(both)).toBe(4);
});

test('what was worked out for another chat or model does not count', async () => {
  const offer = await asked(context(0), tools(12));
  vi.mocked(modelContext.of).mockReturnValue(new Promise(() => {}));
  offer.ask({ chatId: 'b', modelId: 'm' }, tools(12));
  expect([offer.context, offer.count(tools(12))]).toEqual([undefined, 12]);
});

test('a server that cannot say it is not asked again and again', async () => {
  const ask = vi
    .spyOn(modelContext, 'of')
    .mockRejectedValue(new ApiError('not_found', 'No such route.', 404));
  const offer = new ModelOffer();
  offer.ask({}, tools(7));
  offer.ask({}, tools(8));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([ask.mock.calls.length, offer.count(tools(8))]).toEqual([1, 8]);
});
