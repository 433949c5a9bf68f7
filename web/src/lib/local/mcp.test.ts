import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { McpClientPool } from './mcp';

const url = 'http://localhost:8000/mcp';

interface Message {
  id?: number;
  method: string;
}

/** What an MCP server was asked, and the calls that wait for its answer. */
let asked: { method: string; http: string; url: string; key: string | null }[] = [];
let answerCalls: (() => void)[] = [];
let broken: string | undefined;
let moved: string | undefined;

const json = (body: unknown, headers = {}) =>
  new Response(JSON.stringify(body), {
    headers: { 'content-type': 'application/json', ...headers },
  });

const at = (response: Response, more: object) =>
  Object.create(response, Object.getOwnPropertyDescriptors(more)) as Response;

const server = vi.fn<typeof fetch>(async (input, init) => {
  const address = String(input);
  const http = init?.method ?? 'GET';
  const { id, method } = JSON.parse(String(init?.body ?? '{"method":""}')) as Message;
  asked.push({ method, http, url: address, key: new Headers(init?.headers).get('x-key') });
  if (moved && address === url) {
    return http === 'GET' ? at(json({}), { url: moved }) : at(json({}), { type: 'opaqueredirect' });
  }
  const answer = (result: unknown, headers?: object) =>
    json({ jsonrpc: '2.0', id, result }, headers);
  switch (method) {
    case 'initialize':
      return answer(
        {
          protocolVersion: '2025-06-18',
          capabilities: {},
          serverInfo: { name: 's', version: '1' },
        },
        { 'mcp-session-id': 'one' },
      );
    case 'tools/list':
      if (broken === 'list') throw new TypeError('Failed to fetch');
      return answer({ tools: [{ name: 'now' }] });
    case 'tools/call':
      if (broken === 'session') {
        broken = undefined;
        return new Response('Bad Request: no valid session ID', { status: 400 });
      }
      return new Promise((resolve, reject) => {
        answerCalls.push(() => resolve(answer({ content: [] })));
        init!.signal!.addEventListener('abort', () => reject(new TypeError('aborted')));
      });
    default:
      if (id === undefined) return new Response(null, { status: 202 });
      return json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } });
  }
});

const call = () => ({
  tool: 'now',
  args: {},
  withinMs: 10_000,
  signal: new AbortController().signal,
  onprogress: () => {},
});
const calling = () => vi.waitFor(() => expect(answerCalls).toHaveLength(1));
const counted = (method: string) => asked.filter((one) => one.method === method).length;

beforeEach(() => {
  asked = [];
  answerCalls = [];
  broken = moved = undefined;
  vi.stubGlobal('fetch', server);
});
afterEach(() => vi.unstubAllGlobals());

test('a connection is kept, and nobody listens on it while nothing is asked', async () => {
  const line = new McpClientPool();
  expect(await line.list(url, {})).toEqual({ title: 's', tools: [{ name: 'now' }] });
  await line.list(url, {});
  await new Promise((resolve) => setTimeout(resolve));
  expect(counted('initialize')).toBe(1);
  expect(asked.filter(({ http }) => http === 'GET')).toEqual([]);
});

test('whoever has another key is connected apart', async () => {
  const line = new McpClientPool();
  await line.list(url, {});
  await line.list(url, { 'x-key': 'mine' });
  expect(asked.at(-1)).toMatchObject({ method: 'tools/list', key: 'mine' });
});

test('a connection that is dropped goes on with the calls that it has', async () => {
  const line = new McpClientPool();
  const result = line.call(url, {}, call());
  await calling();
  line.drop(url);
  await line.list(url, {});
  expect(counted('initialize')).toBe(2);
  answerCalls[0]!();
  expect(await result).toEqual({ content: [] });
});

test('a look that fails does not end a call that runs', async () => {
  const line = new McpClientPool();
  const result = line.call(url, {}, call());
  await calling();
  broken = 'list';
  await expect(line.list(url, {})).rejects.toThrow();
  answerCalls[0]!();
  expect(await result).toEqual({ content: [] });
});

test('when all is over, what runs ends', async () => {
  const line = new McpClientPool();
  const result = line.call(url, {}, call());
  await calling();
  line.close();
  await expect(result).rejects.toThrow();
});

test('a server that knows the session no longer is asked in a new one', async () => {
  const line = new McpClientPool();
  await line.list(url, {});
  broken = 'session';
  const result = line.call(url, {}, call());
  await calling();
  answerCalls[0]!();
  expect(await result).toEqual({ content: [] });
  expect(counted('initialize')).toBe(2);
});

test.each([
  ['is followed within the server', `${url}/`, true],
  ['is not followed elsewhere', 'http://localhost:9/mcp', false],
])('whoever is sent on %s, and the key goes nowhere else', async (_what, to, follows) => {
  moved = to;
  const line = new McpClientPool();
  const listed = line.list(url, { 'x-key': 'mine' });
  if (follows) expect((await listed).tools).toHaveLength(1);
  else await expect(listed).rejects.toThrow();
  const elsewhere = asked.filter((one) => new URL(one.url).port !== '8000');
  expect(elsewhere).toEqual([]);
  expect(asked.find(({ http }) => http === 'GET')?.key).toBeNull();
});
