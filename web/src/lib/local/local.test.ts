import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClientFrame, Registered } from '$lib/api/types';
import { discover, type Finding, type Server } from './discover';
import { Local } from './local.svelte';

vi.mock('$lib/api/devices', () => ({
  devices: { endpoints: vi.fn(async () => null), keepEndpoints: vi.fn(async () => {}) },
}));
vi.mock('./discover', async (original) => ({
  ...(await original<typeof import('./discover')>()),
  discover: vi.fn(),
}));

const url = 'http://localhost:8000';
const server = (hash: string): Server => ({
  url,
  name: 'time',
  title: 'Time',
  via: 'mcpo',
  hash,
  offered: { type: 'mcp', tools: [] },
});

let sent: ClientFrame[] = [];
let stop = () => {};

async function looking(finding: Finding): Promise<Local> {
  vi.mocked(discover).mockResolvedValue(finding);
  const local = new Local((frame) => sent.push(frame));
  stop = local.start();
  await vi.waitFor(() => expect(local.looks.get(url)?.finding).toEqual(finding));
  await vi.waitFor(() => expect(registrations().length).toBeGreaterThan(0));
  return local;
}

const registrations = () => sent.filter((frame) => frame.type === 'tools:register');
const said = (more: Partial<Registered['servers'][number]>): Registered => ({
  servers: [{ url, name: 'time', sourceId: 's', tools: 0, wanted: false, notes: [], ...more }],
});

beforeEach(() => {
  localStorage.clear();
  sent = [];
});

afterEach(() => {
  stop();
  vi.mocked(discover).mockReset();
});

test('what was found is offered by its hash, and sent when it is wanted', async () => {
  const local = await looking({ servers: [server('h1')] });
  expect(registrations().at(-1)).toMatchObject({ servers: [{ hash: 'h1' }], looking: [] });
  expect(registrations().at(-1)!.servers[0]).not.toHaveProperty('offered');
  local.take({ type: 'tools:registered', ...said({ wanted: true }) });
  expect(registrations().at(-1)!.servers[0]).toHaveProperty('offered');
  const count = registrations().length;
  local.take({ type: 'tools:registered', ...said({ tools: 2 }) });
  expect(registrations()).toHaveLength(count);
  expect(local.statusOf(local.endpoints.all[0]!)).toMatchObject({ state: 'found', tools: 2 });
});

test('what cannot be used is told, and not sent again', async () => {
  const local = await looking({ servers: [server('bad')] });
  local.take({ type: 'tools:registered', ...said({ wanted: true }) });
  local.take({ type: 'tools:registered', ...said({ problem: { message: 'paths./x: no' } }) });
  const count = registrations().length;
  local.take({ type: 'tools:registered', ...said({ wanted: true }) });
  expect(registrations()).toHaveLength(count);
  expect(local.statusOf(local.endpoints.all[0]!).troubles).toEqual([
    { name: 'time', trouble: { kind: 'badSpec', where: 'paths./x: no' } },
  ]);
});

test('what is in the way is told of the whole or of one', async () => {
  const local = await looking({ servers: [], trouble: { kind: 'cors' } });
  expect(local.statusOf(local.endpoints.all[0]!)).toMatchObject({
    state: 'trouble',
    troubles: [{ name: '', trouble: { kind: 'cors' } }],
  });
  expect(registrations().at(-1)).toMatchObject({ servers: [] });
});

test('an address that is removed is told of, with all that may be there', async () => {
  const local = await looking({ servers: [server('h1')] });
  local.remove(url);
  const gone = sent.flatMap((frame) => (frame.type === 'tools:unregister' ? [frame.url] : []));
  expect(gone).toEqual([url, `${url}/mcp`, `${url}/sse`]);
  expect(registrations().at(-1)).toMatchObject({ servers: [] });
  expect(local.looks.size).toBe(0);
});

test('nothing is said of an address before it was looked at', async () => {
  vi.mocked(discover).mockReturnValue(new Promise(() => {}));
  const local = new Local((frame) => sent.push(frame));
  stop = local.start();
  local.connected();
  expect(sent).toEqual([]);
});

test('a connection that comes back is told everything again', async () => {
  const local = await looking({ servers: [server('h1')] });
  local.take({
    type: 'execute:tool',
    call_id: 'c1',
    tool_name: 'x',
    tool_args: {},
    server_url: 'http://localhost:1',
    deadline_ms: 1_000,
  });
  await vi.waitFor(() => expect(sent.at(-1)).toMatchObject({ type: 'tool:result' }));
  sent = [];
  local.connected();
  expect(sent.map(({ type }) => type)).toEqual(['tools:register', 'tool:result']);
});
