import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { devices } from '$lib/api/devices';
import { discover } from './discover';
import { McpClientPool, ToolListError } from './mcp';

vi.mock('$lib/api/devices', () => ({ devices: { behind: vi.fn() } }));

const url = 'http://localhost:8000';
const asked = vi.fn<typeof fetch>();
const look = () =>
  discover(
    { url, kind: 'openapi', headers: { 'x-key': 'mine' } },
    { mcp: new McpClientPool(), mayAsk: false },
  );

function document(paths: object, from: string): Response {
  const response = Response.json({ openapi: '3.1.0', info: { title: 'T' }, paths });
  return Object.defineProperty(response, 'url', { value: from });
}

beforeEach(() => void vi.stubGlobal('fetch', asked));
afterEach(() => {
  vi.unstubAllGlobals();
  asked.mockReset();
  vi.mocked(devices.behind).mockReset();
});

test('the key goes to no server that an mcpo names elsewhere', async () => {
  const get = { '/now': { get: { operationId: 'now' } } };
  asked.mockImplementation(async (at) =>
    document(String(at) === `${url}/openapi.json` ? {} : get, String(at)),
  );
  vi.mocked(devices.behind).mockResolvedValue([
    { name: 'time', url: `${url}/time/openapi.json` },
    { name: 'other', url: 'http://localhost:9/openapi.json' },
  ]);
  const { servers, diagnoses } = await look();
  expect(servers.map(({ name }) => name)).toEqual(['time']);
  expect(diagnoses).toEqual([{ name: 'other', diagnosis: { kind: 'notToolServer' } }]);
  expect(asked.mock.calls.map(([at]) => String(at))).not.toContain(
    'http://localhost:9/openapi.json',
  );
});

test('what somebody else answers, to whom a look was sent on, is not taken', async () => {
  asked.mockImplementation(async () => document({}, 'http://localhost:9/openapi.json'));
  expect(await look()).toEqual({ servers: [], diagnosis: { kind: 'notToolServer' } });
  expect(devices.behind).not.toHaveBeenCalled();
});

test('capabilities in the answer to a handshake are HTTP requests too', async () => {
  const invocation = { type: 'http', method: 'GET', url: '/weather/{city}' };
  const result = {
    serverInfo: { name: 'Home' },
    capabilities: [{ id: 'weather', parameters: { type: 'object' }, invocation }],
  };
  asked.mockImplementation(async (at, init) => {
    const response =
      init?.method === 'POST'
        ? Response.json({ ...JSON.parse(String(init.body)), result })
        : new Response('?', { status: 404 });
    return Object.defineProperty(response, 'url', { value: String(at) });
  });
  const found = await discover(
    { url: `${url}/mcp`, kind: 'mcp', headers: {} },
    { mcp: new McpClientPool(), mayAsk: false },
  );
  const [server] = found.servers;
  expect(server).toMatchObject({ title: 'Home', via: 'openapi', url: `${url}/mcp` });
  expect(server?.offered).toMatchObject({ type: 'openapi', url: `${url}/mcp` });
});

test.each(['/sse', '/sse/'])('so are those in an event of a stream at %s', async (path) => {
  const invocation = { type: 'http', method: 'GET', url: '/weather/{city}' };
  const result = {
    serverInfo: { name: 'Home' },
    capabilities: [{ id: 'weather', parameters: { type: 'object' }, invocation }],
  };
  const events = `: hi\n\nevent: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', result })}\n\n`;
  asked.mockImplementation(async (at, init) => {
    const headers = { 'content-type': 'text/event-stream' };
    const isStream = (init?.method ?? 'GET') === 'GET' && String(at).endsWith(path);
    const response = isStream
      ? new Response(events, { headers })
      : new Response('?', { status: 404 });
    return Object.defineProperty(response, 'url', { value: String(at) });
  });
  const found = await discover(
    { url: `${url}${path}`, kind: 'mcp', headers: {} },
    { mcp: new McpClientPool(), mayAsk: false },
  );
  expect(found.servers[0]).toMatchObject({ title: 'Home', via: 'openapi', url: url + path });
});

test('a server whose list of tools is none said enough in its handshake', async () => {
  const mcp = new McpClientPool();
  vi.spyOn(mcp, 'list').mockRejectedValue(new ToolListError());
  const found = await discover(
    { url: `${url}/sse`, kind: 'mcp', headers: {} },
    { mcp, mayAsk: false },
  );
  expect(found).toEqual({ servers: [], diagnosis: { kind: 'badHandshake', why: 'tools/list' } });
  expect(asked).not.toHaveBeenCalled();
});

test('a server that describes its tools as HTTP requests is one server', async () => {
  const invocation = { type: 'http', method: 'GET', url: '/weather/{city}' };
  const description = {
    serverInfo: { name: 'Home' },
    capabilities: [{ id: 'weather', parameters: { type: 'object' }, invocation }],
  };
  asked.mockImplementation(async (at) =>
    Object.defineProperty(Response.json(description), 'url', { value: String(at) }),
  );
  const { servers } = await look();
  expect(servers.map(({ title, via }) => ({ title, via }))).toEqual([
    { title: 'Home', via: 'openapi' },
  ]);
  expect(devices.behind).not.toHaveBeenCalled();
});
