import { expect, test, vi } from 'vitest';
import type { CallToolAnswer, ToolView } from '$lib/api/types';
import { ManualCall, type ManualToolCall } from './manualCall.svelte';

const tool = { toolId: 't', displayName: 'T', runsOn: 'server' } as ToolView;
const answer = (more: Partial<CallToolAnswer> = {}): CallToolAnswer => ({
  ok: true,
  content: [{ type: 'text', text: 'yes' }],
  durationMs: 5,
  ...more,
});

test('a call runs and ends with what came of it', async () => {
  const manual = new ManualCall(() => Promise.resolve(answer()));
  const done = manual.run(tool, { a: 1 });
  expect([manual.running, manual.call?.input]).toEqual([true, { a: 1 }]);
  await done;
  expect(manual.call).toMatchObject({
    status: 'done',
    output: { content: [{ text: 'yes' }] },
    durationMs: 5,
  });
});

test('what the tool says went wrong is a result, and what the server says is not', async () => {
  const error = { kind: 'failed', message: 'no', params: {} } as const;
  const call = vi.fn<ManualToolCall>().mockResolvedValue(answer({ ok: false, content: [], error }));
  const manual = new ManualCall(call);
  await manual.run(tool, {});
  expect(manual.call).toMatchObject({ status: 'failed', error });
  call.mockRejectedValueOnce(new Error('404'));
  await manual.run(tool, {});
  expect([manual.call, String(manual.failure)]).toEqual([undefined, 'Error: 404']);
});

test('one that is cancelled is told to the server, and its answer comes too late', async () => {
  let finish = (_: CallToolAnswer) => {};
  const called = vi.fn<ManualToolCall>(() => new Promise((resolve) => (finish = resolve)));
  const manual = new ManualCall(called);
  const done = manual.run(tool, {});
  manual.cancel();
  expect(called.mock.lastCall?.[1].aborted).toBe(true);
  expect(manual.call?.status).toBe('cancelled');
  finish(answer());
  await done;
  expect(manual.call?.status).toBe('cancelled');
});
