import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { devices } from '$lib/api/devices';
import { errorDetail } from '$lib/i18n/errorFixture';
import type { ClientFrame, RegistrationResult } from '$lib/api/types';
import { discover, type DiscoverResult, type ServerWithTools } from './discover';
import { Local } from './local.svelte';
import { McpClientPool } from './mcp';

vi.mock('$lib/api/devices', () => ({
  devices: {
    all: vi.fn(async () => []),
    forget: vi.fn(async () => {}),
    endpoints: vi.fn(async () => null),
    keepEndpoints: vi.fn(async () => {}),
  },
}));
vi.mock('./discover', async (original) => ({
  ...(await original<typeof import('./discover')>()),
  discover: vi.fn(),
}));

const url = 'http://localhost:8000';
const server = (hash: string): ServerWithTools => ({
  url,
  name: 'time',
  title: 'Time',
  via: 'mcpo',
  hash,
  offered: { type: 'mcp', tools: [] },
});

const own = `${url}/mcp`;
const mcp: ServerWithTools = { ...server('m'), url: own, name: '', via: 'mcp' };
const endpoint = (url: string) => ({ url, name: '', kind: 'auto' as const, enabled: true });

/** A look whose end is ours to give. */
function pending() {
  let end!: (finding: DiscoverResult) => void;
  const finding = new Promise<DiscoverResult>((resolve) => (end = resolve));
  return { finding, end };
}

let sent: ClientFrame[] = [];
let stop = () => {};

async function looking(finding: DiscoverResult): Promise<Local> {
  vi.mocked(discover).mockResolvedValue(finding);
  const local = new Local((frame) => sent.push(frame));
  stop = local.start();
  await vi.waitFor(() => expect(local.checks.get(url)?.finding).toEqual(finding));
  await vi.waitFor(() => expect(registrations().length).toBeGreaterThan(0));
  return local;
}

const registrations = () => sent.filter((frame) => frame.type === 'tools:register');
const said = (more: Partial<RegistrationResult['servers'][number]>): RegistrationResult => ({
  servers: [{ url, name: 'time', sourceId: 's', tools: 0, wanted: false, notes: [], ...more }],
});

beforeEach(() => {
  localStorage.clear();
  localStorage.setItem('tenon.device', 'this');
  sent = [];
});

afterEach(() => {
  stop();
  vi.mocked(discover).mockReset();
  vi.restoreAllMocks();
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
  local.take({ type: 'tools:registered', ...said({ problem: errorDetail('paths./x: no') }) });
  const count = registrations().length;
  local.take({ type: 'tools:registered', ...said({ wanted: true }) });
  expect(registrations()).toHaveLength(count);
  expect(local.statusOf(local.endpoints.all[0]!).diagnoses).toEqual([
    { name: 'time', diagnosis: { kind: 'badSpec', where: 'paths./x: no' } },
  ]);
});

test('what is in the way is told of the whole or of one', async () => {
  const local = await looking({ servers: [], diagnosis: { kind: 'cors' } });
  expect(local.statusOf(local.endpoints.all[0]!)).toMatchObject({
    state: 'trouble',
    diagnoses: [{ name: '', diagnosis: { kind: 'cors' } }],
  });
  expect(registrations().at(-1)).toMatchObject({ servers: [] });
});

test('an address that is removed is told of, with all that may be there', async () => {
  const local = await looking({ servers: [server('h1')] });
  local.remove(url);
  const gone = sent.flatMap((frame) => (frame.type === 'tools:unregister' ? [frame.url] : []));
  expect(gone).toEqual([url, `${url}/mcp`, `${url}/sse`]);
  expect(registrations().at(-1)).toMatchObject({ servers: [] });
  expect(local.checks.size).toBe(0);
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

test('one that two addresses lead to is offered once, and called with the key of its own', async () => {
  const called = vi.spyOn(McpClientPool.prototype, 'call').mockResolvedValue({ content: [] });
  const local = await looking({ servers: [mcp] });
  local.endpoints.setKey(own, { header: 'X-Key', value: 'mine' });
  await local.put(endpoint(own));
  expect(registrations().at(-1)!.servers).toHaveLength(1);
  local.take({
    type: 'execute:tool',
    call_id: 'c2',
    tool_name: 'x',
    tool_args: {},
    server_url: own,
    deadline_ms: 1_000,
  });
  await vi.waitFor(() => expect(called).toHaveBeenCalled());
  expect(called.mock.calls[0]!.slice(0, 2)).toEqual([own, { 'x-key': 'mine' }]);
  // Without the other one it is still there.
  await local.put({ ...endpoint(url), enabled: false });
  const gone = sent.flatMap((frame) => (frame.type === 'tools:unregister' ? [frame.url] : []));
  expect(gone).toEqual([url, `${url}/sse`]);
  expect(registrations().at(-1)).toMatchObject({ servers: [{ url: own }] });
});

test('after the end nothing runs and nothing is said', async () => {
  const signals: AbortSignal[] = [];
  vi.spyOn(McpClientPool.prototype, 'call').mockImplementation((_url, _headers, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  const local = await looking({ servers: [mcp] });
  const late = pending();
  vi.mocked(discover).mockReturnValue(late.finding);
  local.take({
    type: 'execute:tool',
    call_id: 'c3',
    tool_name: 'x',
    tool_args: {},
    server_url: own,
    deadline_ms: 1_000,
  });
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  void local.look({ mayAsk: true });
  stop();
  sent = [];
  late.end({ servers: [server('h2')] });
  await new Promise((resolve) => setTimeout(resolve));
  local.connected();
  expect(signals[0]!.aborted).toBe(true);
  expect(sent).toEqual([]);
});

test('a key that is entered while a look runs is tried, and the older look counts no more', async () => {
  const local = await looking({ servers: [] });
  const [first, second] = [pending(), pending()];
  vi.mocked(discover).mockReturnValueOnce(first.finding).mockReturnValueOnce(second.finding);
  void local.look();
  local.endpoints.setKey(url, { header: 'X-Key', value: 'mine' });
  const put = local.put(endpoint(url));
  expect(vi.mocked(discover).mock.lastCall![0].headers).toEqual({ 'x-key': 'mine' });
  second.end({ servers: [server('h1')] });
  await put;
  first.end({ servers: [], diagnosis: { kind: 'notRunning' } });
  await new Promise((resolve) => setTimeout(resolve));
  expect(local.checks.get(url)?.finding?.servers).toHaveLength(1);
});

test('an address that is removed does not come back when the browser asks', async () => {
  const local = await looking({ servers: [] });
  vi.mocked(discover).mockReturnValue(new Promise(() => {}));
  void local.look();
  const { onwaiting } = vi.mocked(discover).mock.lastCall![1];
  local.remove(url);
  onwaiting!();
  expect(local.checks.size).toBe(0);
});

test('one that has no time because it works on a call is still there', async () => {
  vi.spyOn(McpClientPool.prototype, 'call').mockReturnValue(new Promise(() => {}));
  const local = await looking({ servers: [mcp] });
  local.take({
    type: 'execute:tool',
    call_id: 'c4',
    tool_name: 'x',
    tool_args: {},
    server_url: own,
    deadline_ms: 1_000,
  });
  vi.mocked(discover).mockResolvedValue({ servers: [], diagnosis: { kind: 'tooSlow' } });
  await local.look({ mayAsk: true });
  expect(registrations().at(-1)).toMatchObject({ servers: [{ url: own }], calls: ['c4'] });
});

test('that Tenon took nothing is told until it takes something', async () => {
  const local = await looking({ servers: [server('h1')] });
  local.take({ type: 'tools:registered', servers: [], problem: errorDetail('Too many servers.') });
  expect(local.problem?.message).toBe('Too many servers.');
  local.take({ type: 'tools:registered', ...said({ tools: 2 }) });
  expect(local.problem).toBeUndefined();
});

test('the same offer of two servers is counted twice', async () => {
  const offered = { type: 'mcp' as const, tools: ['x'.repeat(11 * 1024 * 1024)] };
  const two = ['time', 'clock'].map((name) => ({ ...server('same'), name, offered }));
  const local = await looking({ servers: two });
  const wants = (...names: string[]) =>
    local.take({
      type: 'tools:registered',
      servers: names.map((name) => ({ ...said({ wanted: true }).servers[0]!, name })),
    });
  const along = () =>
    registrations()
      .at(-1)!
      .servers.flatMap(({ name, offered }) => (offered ? [name] : []));
  wants('time', 'clock');
  expect(along()).toEqual(['time']);
  wants('clock');
  expect(along()).toEqual(['clock']);
});

test('which computer it is is known before anything is offered', async () => {
  localStorage.removeItem('tenon.device');
  vi.mocked(devices.all).mockResolvedValue([
    { id: 'laptop', name: 'Laptop', online: false, pages: [], servers: [{}] } as never,
  ]);
  const asked = vi.fn();
  vi.mocked(discover).mockResolvedValue({ servers: [server('h1')] });
  const local = new Local(
    (frame) => sent.push(frame),
    () => {},
    asked,
  );
  stop = local.start();
  await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
  expect(registrations()).toEqual([]);
  await local.adoptComputer({ id: 'laptop', name: 'Laptop' });
  expect(registrations().at(-1)).toMatchObject({ device: { id: 'laptop', name: 'Laptop' } });
  local.nameComputer('Old laptop');
  expect(registrations().at(-1)).toMatchObject({ device: { id: 'laptop', name: 'Old laptop' } });
});

test('one server by two addresses is offered once, and a new address for it is not kept', async () => {
  const other = 'http://127.0.0.1:8000/mcp';
  const local = await looking({ servers: [mcp] });
  vi.mocked(discover).mockResolvedValue({ servers: [{ ...mcp, url: other }] });
  expect(await local.put(endpoint(other))).toBe(url);
  expect(local.endpoints.all.map(({ url }) => url)).toEqual([url]);
  expect(registrations().at(-1)!.servers).toHaveLength(1);
  // One that a person gave a name is theirs to remove.
  expect(await local.put({ ...endpoint(other), name: 'Mine' })).toBe(other);
  expect(local.statusOf({ ...endpoint(other), name: 'Mine' }).sameAs).toBe(url);
  expect(registrations().at(-1)!.servers).toHaveLength(1);
});

test('a server that goes by itself is told of', async () => {
  const changes = vi.fn();
  vi.mocked(discover).mockResolvedValue({ servers: [server('h1')] });
  const local = new Local((frame) => sent.push(frame), changes);
  stop = local.start();
  await vi.waitFor(() => expect(registrations()).toHaveLength(1));
  vi.mocked(discover).mockResolvedValue({ servers: [], diagnosis: { kind: 'notRunning' } });
  await local.look();
  expect(changes).toHaveBeenCalledExactlyOnceWith({ come: [], gone: ['time'] });
});
