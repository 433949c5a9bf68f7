import { afterEach, expect, test, vi } from 'vitest';
import type { ExecuteTool, LocalCallOutcome } from '$lib/api/types';
import { Executor } from './execute';
import type { McpClientPool } from './mcp';

const MIB = 1024 * 1024;

const url = 'http://localhost:8000';
let calls = 0;

afterEach(() => vi.unstubAllGlobals());

/** What Tenon is told of a call, by a page that can reach the server. */
async function outcomeOf(
  order: Partial<ExecuteTool>,
  mcp: Partial<McpClientPool> = {},
): Promise<LocalCallOutcome> {
  const ended = vi.fn<(callId: string, outcome: LocalCallOutcome) => void>();
  const executor = new Executor({
    mcp: mcp as McpClientPool,
    reach: () => ({ url, headers: {} }),
    explain: () => Promise.resolve(undefined),
    progress: () => {},
    ended,
  });
  calls += 1;
  const call_id = `call-${calls}`;
  const whole = { call_id, tool_name: 'tool', tool_args: {}, server_url: url, deadline_ms: 9_000 };
  await executor.execute({ ...whole, ...order });
  return ended.mock.lastCall?.[1] ?? expect.fail('it has not ended');
}

function fetched(body: BodyInit): Promise<LocalCallOutcome> {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(body)));
  return outcomeOf({ request: { method: 'GET', url: `${url}/tool`, headers: [] } });
}

function called(result: unknown): Promise<LocalCallOutcome> {
  return outcomeOf({}, { call: () => Promise.resolve(result) });
}

const sizeOf = (outcome: LocalCallOutcome) => new Blob([JSON.stringify(outcome)]).size;
const bodyOf = (outcome: LocalCallOutcome) => ('status' in outcome ? outcome.body : undefined);
const tooLong = { error: { kind: 'failed', message: 'The answer is larger than 16 MB.' } };

test('what is text is sent as text', async () => {
  const text = '{"a": "b"}\n你好\n'.repeat(100);
  expect(bodyOf(await fetched(text))).toEqual({ type: 'text', text });
});

test('what is none is sent as it is', async () => {
  const body = bodyOf(await fetched(new Uint8Array([0xff, 0x00, 0x22])));
  expect(body).toEqual({ type: 'base64', data: '/wAi' });
});

test('whatever is in an answer, it is not half as long again on its way', async () => {
  // Answers may have 16 MiB, and Tenon takes frames of 24.
  for (const character of ['a', '"', '\0', '\n', '字']) {
    const outcome = await fetched(character.repeat(MIB / 8));
    const length = new Blob([character]).size * (MIB / 8);
    expect(bodyOf(outcome)).toBeDefined();
    expect(sizeOf(outcome)).toBeLessThan(length * 1.5);
  }
});

test('a longer one is not sent', async () => {
  expect(await fetched('a'.repeat(16 * MIB + 1))).toEqual(tooLong);
  expect(await called({ content: [{ type: 'text', text: '字'.repeat(6 * MIB) }] })).toEqual(
    tooLong,
  );
  expect(await called({ content: [{ type: 'text', text: '"'.repeat(9 * MIB) }] })).toEqual(tooLong);
});

test('what an MCP server answered is passed on', async () => {
  const result = { content: [{ type: 'text', text: 'hello' }] };
  expect(await called(result)).toEqual({ result });
});
