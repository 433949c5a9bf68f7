import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ExecuteTool, LocalCallOutcome } from '$lib/api/types';
import type { Diagnosis } from './diagnose';
import { Executor } from './execute';
import type { McpClientPool } from './mcp';

const fetched = vi.fn<typeof fetch>();
const ended = vi.fn<(callId: string, outcome: LocalCallOutcome) => void>();
const progress = vi.fn();
const drop = vi.fn();
let diagnosis: Diagnosis | undefined;

const executor = () =>
  new Executor({
    mcp: { drop } as unknown as McpClientPool,
    reach: (url) =>
      url === 'http://localhost:8000'
        ? { url, headers: { authorization: 'Bearer mine' } }
        : undefined,
    explain: async () => diagnosis,
    progress,
    ended,
  });

const order = (more: Partial<ExecuteTool> = {}): ExecuteTool => ({
  call_id: 'c1',
  tool_name: 'now',
  tool_args: {},
  server_url: 'http://localhost:8000',
  request: {
    method: 'POST',
    url: 'http://localhost:8000/now',
    headers: [['content-type', 'application/json']],
    body: { type: 'text', text: '{}' },
  },
  deadline_ms: 1_000,
  ...more,
});

beforeEach(() => {
  vi.stubGlobal('fetch', fetched);
  diagnosis = undefined;
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.clearAllMocks();
  fetched.mockReset();
});

test('says that it has begun, adds the key of this browser, and gives back what came', async () => {
  fetched.mockResolvedValue(
    new Response('{"at":1}', { headers: { 'content-type': 'application/json' } }),
  );
  await executor().execute(order());
  expect(progress).toHaveBeenCalledExactlyOnceWith('c1');
  const [url, init] = fetched.mock.calls[0]!;
  expect(url).toBe('http://localhost:8000/now');
  expect((init!.headers as Headers).get('authorization')).toBe('Bearer mine');
  expect(init!.credentials).toBe('omit');
  expect(ended).toHaveBeenCalledExactlyOnceWith('c1', {
    status: 200,
    headers: [['content-type', 'application/json']],
    body: { type: 'text', text: '{"at":1}' },
  });
});

test.each([
  ['a server that is not enabled here', { server_url: 'http://localhost:9' }],
  [
    'another place than the server',
    {
      request: { method: 'GET', url: 'http://localhost:8001/', headers: [] as [string, string][] },
    },
  ],
])('sends nothing to %s', async (_what, more) => {
  await executor().execute(order(more));
  expect(fetched).not.toHaveBeenCalled();
  expect(ended).toHaveBeenCalledWith('c1', {
    error: { kind: 'refused', message: expect.any(String) },
  });
});

test('what somebody else answered, to whom it was sent on, is refused', async () => {
  const response = new Response('{}');
  Object.defineProperty(response, 'url', { value: 'http://localhost:9/now' });
  fetched.mockResolvedValue(response);
  await executor().execute(order());
  expect(ended.mock.calls[0]![1]).toMatchObject({
    error: { kind: 'refused', message: expect.stringContaining('sent on') },
  });
});

test('a call ends even if nobody can find out why it failed', async () => {
  fetched.mockRejectedValue(new TypeError('Failed to fetch'));
  drop.mockImplementationOnce(() => {
    throw new Error('no idea');
  });
  const page = executor();
  await page.execute(order());
  expect(page.calls).toEqual([]);
  expect(ended.mock.calls[0]![1]).toEqual({ error: { kind: 'broken', message: 'no idea' } });
});

test('what is not text is passed on as it is', async () => {
  fetched.mockResolvedValue(new Response(new Uint8Array([0xff, 0, 1])));
  await executor().execute(order());
  expect(ended.mock.calls[0]![1]).toMatchObject({ body: { type: 'base64', data: '/wAB' } });
});

test('a call that is cancelled is ended for nobody', async () => {
  let aborted = false;
  fetched.mockImplementation(
    (_url, init) =>
      new Promise((_resolve, reject) =>
        init!.signal!.addEventListener('abort', () => {
          aborted = true;
          reject(new DOMException('', 'AbortError'));
        }),
      ),
  );
  const page = executor();
  const running = page.execute(order());
  await vi.waitFor(() => expect(fetched).toHaveBeenCalled());
  expect(page.calls).toEqual(['c1']);
  page.cancel('c1');
  await running;
  expect(aborted).toBe(true);
  expect(page.calls).toEqual([]);
  expect(ended).not.toHaveBeenCalled();
});

test('the same order twice is one call', async () => {
  fetched.mockResolvedValue(new Response('{}'));
  const page = executor();
  await Promise.all([page.execute(order()), page.execute(order())]);
  expect(fetched).toHaveBeenCalledTimes(1);
  expect(ended).toHaveBeenCalledTimes(1);
});

test('whoever takes too long is not waited for', async () => {
  vi.useFakeTimers();
  fetched.mockImplementation(
    (_url, init) =>
      new Promise((_resolve, reject) =>
        init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error)),
      ),
  );
  const running = executor().execute(order());
  await vi.advanceTimersByTimeAsync(1_001);
  await running;
  expect(ended.mock.calls[0]![1]).toMatchObject({ error: { kind: 'timed_out' } });
});

test('what broke in the middle is told from what was never reached', async () => {
  fetched.mockRejectedValue(new TypeError('Failed to fetch'));
  await executor().execute(order());
  expect(ended.mock.calls[0]![1]).toMatchObject({ error: { kind: 'broken' } });
  diagnosis = { kind: 'notRunning' };
  await executor().execute(order({ call_id: 'c2' }));
  expect(ended.mock.calls[1]![1]).toMatchObject({ error: { kind: 'unreachable' } });
  diagnosis = { kind: 'cors' };
  await executor().execute(order({ call_id: 'c3' }));
  expect(ended.mock.calls[2]![1]).toMatchObject({ error: { kind: 'refused' } });
  expect(drop).toHaveBeenCalledTimes(3);
});

test('an answer that is cut off is broken', async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"a'));
      controller.error(new TypeError('network error'));
    },
  });
  fetched.mockResolvedValue(new Response(body));
  await executor().execute(order());
  expect(ended.mock.calls[0]![1]).toMatchObject({ error: { kind: 'broken' } });
});
