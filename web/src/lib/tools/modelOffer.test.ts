import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '$lib/api/client';
import { modelContext } from '$lib/api/modelContext';
import type { ContextView } from '$lib/api/types';
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

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function asked(answer: ContextView, on: number): Promise<ModelOffer> {
  vi.spyOn(modelContext, 'of').mockResolvedValue(answer);
  const offer = new ModelOffer();
  offer.ask({ chatId: 'a', modelId: 'm' }, on);
  await vi.advanceTimersByTimeAsync(1_000);
  return offer;
}

test('the count is what the model gets', async () => {
  const offer = await asked(context(128, ['x', 'y']), 130);
  expect(offer.count(130)).toBe(128);
  expect(offer.context?.leftOut).toHaveLength(2);
});

test('a switch counts at once, unless tools were left out', async () => {
  expect((await asked(context(12), 12)).count(11)).toBe(11);
  // Some are offered only when they are needed.
  const some = await asked(context(9), 12);
  expect([some.count(12), some.count(11), some.count(0)]).toEqual([12, 11, 0]);
  const cut = await asked(context(128, ['x', 'y']), 130);
  expect([cut.count(129), cut.count(100)]).toEqual([128, 100]);
  // What it has to search for it does not get.
  const searching = await asked(context(30, [], 9_970), 10_000);
  expect([searching.count(10_000), searching.count(20)]).toEqual([30, 20]);
  // It takes none, whatever is switched on.
  expect((await asked(context(0), 12)).count(13)).toBe(0);
});

test('what was worked out for another chat or model does not count', async () => {
  const offer = await asked(context(0), 12);
  vi.mocked(modelContext.of).mockReturnValue(new Promise(() => {}));
  offer.ask({ chatId: 'b', modelId: 'm' }, 12);
  expect([offer.context, offer.count(12)]).toEqual([undefined, 12]);
});

test('a server that cannot say it is not asked again and again', async () => {
  const ask = vi
    .spyOn(modelContext, 'of')
    .mockRejectedValue(new ApiError('not_found', 'No such route.', 404));
  const offer = new ModelOffer();
  offer.ask({}, 7);
  offer.ask({}, 8);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([ask.mock.calls.length, offer.count(8)]).toEqual([1, 8]);
});
