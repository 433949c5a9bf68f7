// Tools on the user's own machine, called by the user's own browser.
import { test, after } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixture } from './fixture.js';
import { lookAt, localTools } from './local.js';
import { startCapabilities } from './local/servers.js';
import { startScriptedModel } from './scriptedModel.js';
import {
  memory,
  startBridge,
  startEverything,
  startFast,
  startMcpo,
  startClock,
  time,
} from './peers.js';
import { eventually } from './screen.js';
import { recordingProxy } from './recordingProxy.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let model;

after(() => model?.stop());

/** A server behind a recording proxy, and a page that looks at it. */
async function found(t, peer) {
  model ??= await startScriptedModel(suite);
  t.after(() => peer.stop());
  const watched = await recordingProxy(Number(new URL(peer.url).port));
  t.after(() => watched.stop());
  const url = `http://localhost:${watched.port}`;
  const visit = await suite.visit(t, lookAt(url));
  const tools = (state) => localTools(suite, url, state);
  /** Once its tools are there. */
  const are = (state) => eventually(state, async () => (await tools(state)).length > 0, 30_000);
  await are('ready');
  return { ...visit, watched, tools, are, allow: (name) => allow(tools, name) };
}

/** The id of the tool of this name, which asks nobody from now on. */
async function allow(tools, name) {
  const named = (await tools()).filter(({ toolName }) => toolName === name);
  assert.equal(named.length, 1, `one tool is called ${name}`);
  const [{ toolId }] = named;
  await suite.tell('PATCH', '/tools', { layer: 'user', tools: [{ toolId, policy: 'allow' }] });
  return toolId;
}

/** Has the model call a tool, and gives what it was told. */
async function callInChat({ ui, page, allow }, name, args) {
  await ui.ask(`Call ${await allow(name)} ${JSON.stringify(args)}`);
  await ui.answered();
  await page.locator('.answer', { hasText: 'Hello from' }).waitFor();
  const told = model.asked.flatMap(({ messages }) => messages);
  return told.findLast(({ role }) => role === 'tool');
}

/** The server was asked for what these words are in. */
function begun(watched, words) {
  return eventually('the call has begun', () => watched.countSent(words) > 0);
}

/** Nobody but the browser has been there. */
function provenLocal(watched) {
  assert.ok(watched.seen.length > 0);
  for (const process of watched.seen) {
    assert.notEqual(process?.pid, suite.tenon.pid, JSON.stringify(watched.seen));
    assert.match(process?.name ?? '', /chrom/i);
  }
}

const kinds = [
  {
    name: 'an mcpo with several servers',
    start: () => startMcpo({ clock: { command: time }, notes: { command: memory } }),
    tool: 'tool_get_current_time_post',
    args: { timezone: 'Asia/Tokyo' },
    via: 'mcpo',
    says: /Asia\/Tokyo/,
  },
  {
    name: 'an mcpo with one',
    start: (origin) => startClock(origin),
    tool: 'tool_get_current_time_post',
    args: { timezone: 'Asia/Tokyo' },
    via: 'mcpo',
    says: /Asia\/Tokyo/,
  },
  {
    name: 'a bridge with several servers',
    start: (origin) =>
      startBridge({ clock: { command: time }, notes: { command: memory } }, origin),
    tool: 'tool_get_current_time_post',
    args: { timezone: 'Asia/Tokyo' },
    via: 'mcpo',
    says: /Asia\/Tokyo/,
  },
  {
    name: 'FastMCP over HTTP',
    start: (origin) => startFast('http', origin),
    tool: 'add',
    args: { a: 2, b: 40 },
    via: 'mcp',
    says: /42/,
  },
  {
    name: 'FastMCP over SSE',
    start: (origin) => startFast('sse', origin),
    tool: 'add',
    args: { a: 2, b: 40 },
    via: 'mcp',
    says: /42/,
  },
  {
    name: 'the reference server over HTTP',
    start: () => startEverything('streamableHttp'),
    tool: 'echo',
    args: { message: 'hi there' },
    via: 'mcp',
    says: /hi there/,
  },
  {
    name: 'the reference server over SSE',
    start: () => startEverything('sse'),
    tool: 'echo',
    args: { message: 'hi there' },
    via: 'mcp',
    says: /hi there/,
  },
  {
    name: 'capabilities in the answer to a handshake',
    start: () => startCapabilities('http'),
    tool: 'forecast',
    args: { city: 'Oslo', days: 3 },
    via: 'openapi',
    says: /Oslo.*3.*clear/,
  },
  {
    name: 'capabilities in an event of a stream',
    start: () => startCapabilities('sse'),
    tool: 'forecast',
    args: { city: 'Oslo', days: 3 },
    via: 'openapi',
    says: /Oslo.*3.*clear/,
  },
];

for (const { name, start, tool, args, via, says } of kinds) {
  test(`${name} is found, called by the page, and by nobody else`, deadline, async (t) => {
    const visit = await found(t, await start(suite.tenon.url));
    for (const { source, runsOn } of await visit.tools()) {
      assert.equal(runsOn, 'browser');
      assert.equal(source.local.via, via);
    }
    const told = await callInChat(visit, tool, args);
    assert.match(JSON.stringify(told.content), says);
    provenLocal(visit.watched);
  });
}

test('a call says how far it is, and stops when it is told to', deadline, async (t) => {
  const { ui, page, allow, watched } = await found(t, await startFast('http', suite.tenon.url));
  const folder = await mkdtemp(join(tmpdir(), 'tenon-local-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const mark = join(folder, 'mark');
  await ui.ask(`Call ${await allow('counts')} {"to": 150}`);
  await page
    .getByText(/at \d+/)
    .first()
    .waitFor();
  await ui.answered();
  await ui.ask(`Call ${await allow('sleeps')} ${JSON.stringify({ seconds: 30, mark })}`);
  await begun(watched, mark);
  await ui.stopButton.click();
  await ui.answered(2);
  await eventually('the server was told', () => existsSync(`${mark}.cancelled`));
  assert.equal(existsSync(mark), false);
});

test('pictures and files of a local tool are shown in the chat', deadline, async (t) => {
  const { ui, page, allow } = await found(t, await startFast('http', suite.tenon.url));
  await ui.ask(`Call ${await allow('archive')}`);
  await ui.answered();
  await ui.cards.first().getByRole('button').first().click();
  const file = page.getByRole('link', { name: /nothing/ });
  await file.waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), file.click()]);
  assert.match(download.suggestedFilename(), /nothing/);
});

test(
  'a page that is closed fails at once what it had begun, and its tools are offline',
  deadline,
  async (t) => {
    const { page, are, allow, watched } = await found(t, await startFast('http', suite.tenon.url));
    const toolId = await allow('sleeps');
    const mark = join(tmpdir(), 'tenon-never');
    const calling = suite.tell('POST', `/tools/${toolId}/call`, {
      arguments: { seconds: 20, mark },
    });
    await begun(watched, mark);
    const began = Date.now();
    await page.close();
    const answer = await calling;
    assert.equal(answer.ok, false);
    assert.match(answer.error.message, /closed or lost its connection.*not known/s);
    assert.ok(Date.now() - began < 8_000);
    await are('offline');
    const again = await suite.tell('POST', `/tools/${toolId}/call`, { arguments: {} });
    assert.equal(again.ok, false);
  },
);

for (const transport of ['http', 'sse']) {
  test(`a server that dies over a call fails it, over ${transport}`, deadline, async (t) => {
    const peer = await startFast(transport, suite.tenon.url);
    const { page, are, allow, watched } = await found(t, peer);
    const toolId = await allow('sleeps');
    await page.clock.install();
    // Timers from before it was installed could not be cleared any more: one that closes idle
    // connections would end the call.
    const before = watched.countSent('"tools/list"');
    await page.reload();
    await eventually('it was looked at', () => watched.countSent('"tools/list"') > before, 30_000);
    await are('ready');
    const mark = join(tmpdir(), `tenon-dies-${transport}`);
    const calling = suite.tell('POST', `/tools/${toolId}/call`, {
      arguments: { seconds: 60, mark },
    });
    await begun(watched, mark);
    // As long as a person would wait before they doubt it was reached at all.
    await page.clock.fastForward(3_500);
    const began = Date.now();
    await peer.stop();
    const answer = await calling;
    assert.equal(answer.ok, false);
    assert.match(answer.error.message, /not known whether the call took effect: check before/);
    assert.ok(Date.now() - began < 20_000, 'it does not wait for the deadline');
    await are('failed');
  });
}

for (const { name, start, tool, args } of kinds.filter(({ via }) => via === 'mcp')) {
  // A browser has six connections to a host, for all its pages together.
  test(`seven pages use ${name}`, deadline, async (t) => {
    const { context, watched, allow } = await found(t, await start(suite.tenon.url));
    const toolId = await allow(tool);
    const call = async () => {
      const answer = await suite.tell('POST', `/tools/${toolId}/call`, { arguments: args });
      assert.equal(answer.ok, true, JSON.stringify(answer));
    };
    for (let pages = 2; pages <= 7; pages += 1) {
      const page = await context.newPage();
      const before = watched.countSent('"tools/list"');
      await page.goto(suite.tenon.url);
      await eventually('it was looked at', () => watched.countSent('"tools/list"') > before);
      await call();
    }
    await Promise.all(Array.from({ length: 14 }, call));
  });
}

test('tools are there again when Tenon or the server comes back', deadline, async (t) => {
  const peer = await startFast('http', suite.tenon.url);
  const { are, allow } = await found(t, peer);
  await suite.tenon.restart();
  await are('ready');
  const toolId = await allow('add');
  const call = () => suite.tell('POST', `/tools/${toolId}/call`, { arguments: { a: 1, b: 2 } });
  assert.equal((await call()).ok, true);
  await peer.stop();
  const answer = await call();
  assert.equal(answer.ok, false);
  assert.match(answer.error.message, /answers at|broke/);
  await are('failed');
});
