// What the page says about tool servers on the person's machine, in a real Chromium and
// with real servers: each case ends in one trouble, soon, and the page goes on meanwhile.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { certificateFor } from './local/certificate.js';
import {
  startEverything,
  startFiles,
  startMcpo,
  startMcpServers,
  stopPrograms,
} from './local/programs.js';
import { missing, Screen } from './local/screen.js';
import {
  closedPort,
  description,
  documents,
  initialized,
  listenRaw,
  open,
  serve,
  speaksMcp,
  stopServers,
} from './local/servers.js';
import { openSite, Sites, diagnosisOf } from './local/sites.js';

/** One request may take five seconds; a busy machine adds to it. */
const REQUEST_MS = 6_500;
/** Longer pauses are felt. */
const PAUSE_MS = 1_000;
const deadline = { timeout: 30_000 };

let sites;
let browser;
let folder;
let real;
/** By the place they are opened at. */
const pages = {};

const everyone = { allow_origins: ['*'], allow_methods: ['*'], allow_headers: ['*'] };
const session = { expose_headers: ['mcp-session-id'] };
const fastmcp = [
  { transport: 'http' },
  { transport: 'sse' },
  { transport: 'http', cors: everyone },
  { transport: 'sse', cors: everyone },
  { transport: 'http', cors: { allow_origins: ['*'] } },
  { transport: 'sse', cors: { allow_origins: ['*'] } },
  { transport: 'http', cors: { ...everyone, allow_headers: [] } },
  { transport: 'sse', cors: { ...everyone, allow_headers: [] } },
];
const oldMcp = [
  { transport: 'http', cors: everyone },
  { transport: 'http', cors: { ...everyone, ...session } },
  {
    transport: 'http',
    cors: { ...everyone, ...session, allow_headers: ['mcp-protocol-version'] },
  },
];

before(
  async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
    const programs = Promise.all([
      startMcpo('--api-key', 'hush'),
      startMcpo('--api-key', 'hush', '--strict-auth'),
      startFiles(folder),
      startEverything('sse'),
      startEverything('streamableHttp'),
      startMcpServers('venv-fastmcp', fastmcp),
      startMcpServers('venv-oldmcp', oldMcp),
    ]);
    [sites] = await Promise.all([Sites.start(), programs]);
    const [mcpo, strict, files, sse, http, fast, old] = await programs;
    real = { mcpo, strict, files, everything: { sse, http }, fast, old };
    browser = await sites.openBrowser();
    const { here, plain, near, site, secure } = sites.urls;
    pages.here = await openSite(browser, here);
    pages.plain = await openSite(browser, plain);
    pages.near = await openSite(browser, near);
    pages.granted = await openSite(browser, site, { granted: true });
    pages.denied = await openSite(browser, site, { denied: true });
    pages.secure = await openSite(browser, secure, { granted: true });
  },
  { timeout: 90_000 },
);
after(async () => {
  await browser?.close();
  stopServers();
  await Promise.all([stopPrograms(), sites?.stop(), rm(folder, { recursive: true, force: true })]);
});

/** Looks at an address from these pages: what it comes to is this trouble and so many tools. */
function check(title, endpoint, expected, { tools = 0, from = 'here' } = {}) {
  test(title, deadline, async (t) => {
    const seen = await diagnosisOf(pages[from], await endpoint());
    const { diagnosis, ms, pause } = seen;
    t.diagnostic(`${diagnosis?.kind ?? 'no trouble'}, ${seen.tools} tools, ${ms} ms`);
    matches(diagnosis, typeof expected === 'string' ? { kind: expected } : expected);
    assert.equal(seen.tools, tools);
    assert.ok(ms < REQUEST_MS, `took ${ms} ms`);
    assert.ok(pause < PAUSE_MS, `the page stood still for ${pause} ms`);
  });
}

/** Patterns in what is expected stand for text. */
function matches(seen, expected) {
  const patterns = Object.entries(expected ?? {}).filter(([, value]) => value instanceof RegExp);
  for (const [name, pattern] of patterns) assert.match(seen?.[name] ?? '', pattern);
  const texts = Object.fromEntries(patterns.map(([name]) => [name, seen[name]]));
  assert.deepEqual(seen, expected && { ...expected, ...texts });
}

const works = undefined;
const nobody = async () => `http://localhost:${await closedPort()}`;
const silent = () => listenRaw(() => {});
const withKey = async (url, key = 'x') => ({ url: await url, key });
const needsKey = (given, status) => ({ kind: 'needsKey', given, status });
const refuses = (header) => ({ kind: 'preflightHeader', header });
const badHandshake = (why) => ({ kind: 'badHandshake', why });

describe('nobody to talk to', () => {
  check('nobody listens', nobody, 'notRunningOrNotHttp');
  check('it hangs up', () => listenRaw((it) => it.destroy()), 'notRunningOrNotHttp');
  check('it is mail', () => listenRaw((it) => it.write('220 mail\r\n')), 'notRunningOrNotHttp');
  check('the port is blocked', () => 'http://localhost:6000', 'blockedPort');
  check('our policy forbids it', () => 'http://192.168.77.7:8000', 'policy');
  check('our policy has no words for it', () => 'http://[::1]:8000', 'policy');
});

describe('https', () => {
  const unknown = certificateFor('localhost');
  const secure = () => serve(documents(description), { certificate: unknown });
  const plain = () => serve(documents(description));
  check('nobody trusts the certificate', secure, 'tlsOrNotRunning');
  check('it is http', async () => (await plain()).replace('http:', 'https:'), 'useHttp');
  check(
    'it is https that nobody trusts',
    async () => (await secure()).replace('https:', 'http:'),
    'notRunningOrNotHttp',
  );
  check(
    'it is https that is trusted',
    async () => {
      const trusted = await serve(documents(description), { certificate: sites.certificate });
      return trusted.replace('https:', 'http:').replace('localhost', '127.0.0.1');
    },
    'useHttps',
  );
});

describe('what a page may do', () => {
  const toOthers = { 'access-control-allow-origin': 'https://else.example' };
  const toNobody = { 'cross-origin-resource-policy': 'same-origin' };
  const noKeys = { ...open, 'access-control-allow-headers': 'content-type' };
  const has = (headers, options) => serve(documents(description, headers, options));
  const closed = { preflight: 405 };
  check('files, and no word about origins', () => real.files, 'cors');
  check('a description, and no word about origins', () => has({}), 'cors');
  check('a description for another site', () => has(toOthers), 'cors');
  check('a description for nobody else', () => has(toNobody), 'cors');
  check('no key may be sent', () => withKey(has(noKeys)), refuses('authorization'));
  check('no preflight, and a key', () => withKey(has(open, closed)), 'preflightRefused');
  check('no preflight, and a body', () => has(open, closed), 'preflightRefused', { tools: 1 });
  check(
    'no preflight, and nothing to send',
    () => serve(documents({ ...description, paths: readsOnly }, open, closed)),
    works,
    { tools: 1 },
  );
});

const readsOnly = { '/now': { get: { operationId: 'now', responses: {} } } };

describe('keys', () => {
  const refusal = (status) => (request, response) =>
    response.writeHead(request.method === 'OPTIONS' ? 204 : status, open).end('{}');
  check('none', () => serve(refusal(401)), needsKey(false, 401));
  check('a wrong one', () => withKey(serve(refusal(403))), needsKey(true, 403));
  check('an mcpo without', () => real.mcpo, needsKey(false, 401), { tools: 2 });
  check('an mcpo with', () => withKey(real.mcpo, 'hush'), works, { tools: 2 });
  // It refuses before it says a word about origins.
  check('a strict mcpo without', () => real.strict, 'cors');
  check('a strict mcpo with a wrong one', () => withKey(real.strict), 'cors');
  check('a strict mcpo with', () => withKey(real.strict, 'hush'), works, { tools: 2 });
});

describe('something else', () => {
  const everywhere = (body) => (_, response) => response.writeHead(200, open).end(body);
  const files = (request, response) =>
    response.writeHead(request.method === 'GET' ? 404 : 501, open).end();
  const yaml = `openapi: 3.1.0
info: { title: Clock, version: "1" }
paths: ${JSON.stringify(readsOnly)}`;
  const broken = JSON.stringify(description, undefined, 2).slice(0, -20);
  check('files', () => serve(files), 'notToolServer');
  check('JSON', () => serve(documents({ hello: 'world' })), 'notToolServer');
  check('JSON everywhere', () => serve(everywhere('{}')), 'notToolServer');
  check('a page everywhere', () => serve(everywhere('<!doctype html>')), 'notToolServer');
  check('YAML that is one', () => serve(documents(yaml)), works, { tools: 1 });
  check('a description with a mistake', () => serve(documents({ ...description, paths: [] })), {
    kind: 'badSpec',
    where: /paths/,
  });
  check('a description that is broken off', () => serve(documents(broken)), {
    kind: 'badSpec',
    where: /line \d+/,
  });
  check('a description that never ends', () => serve(endless), { kind: 'badSpec', where: /MiB/ });
  check('a description that is cut off', () => serve(cut), 'cut');
});

function endless(_, response) {
  response.writeHead(200, open);
  const more = () => {
    while (response.write(' '.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}

function cut(_, response) {
  response.writeHead(200, { ...open, 'content-length': 1000 });
  response.write('{"openapi"', () => setTimeout(() => response.destroy(), 50));
}

describe('MCP', () => {
  const speaks = (answers) => serve(speaksMcp(answers));
  const fails = (message) => ({ error: { code: -32603, message } });
  const lists = (answer) => speaks({ initialize: initialized, 'tools/list': answer });
  const nonsense = { 'server/discover': 'Hello', initialize: 'Hello' };
  const strangers = (request, response) =>
    response.writeHead(request.method === 'OPTIONS' ? 204 : 403, open).end('Invalid Origin');
  check(
    'its handshake fails',
    () => speaks({ initialize: fails('Not today') }),
    badHandshake(/Not today/),
  );
  check(
    'its handshake is nonsense',
    async () => `${await speaks(nonsense)}/mcp`,
    badHandshake(/unusable|JSON/),
  );
  check('its list fails', () => lists(fails('No paper')), badHandshake(/No paper/));
  check('its list is none', () => lists({ result: { tools: 7 } }), badHandshake('tools/list'));
  const locked = (request, response) => {
    const status = { OPTIONS: 204, POST: 401 }[request.method] ?? 405;
    response.writeHead(status, open).end('{}');
  };
  check('it wants a key', async () => `${await serve(locked)}/mcp`, needsKey(false, 401));
  check('it wants a key, by its origin', () => serve(locked), needsKey(false, 401));
  check(
    'it wants another key',
    async () => withKey(`${await serve(locked)}/mcp`),
    needsKey(true, 401),
  );
  check('it wants no strangers', async () => `${await serve(strangers)}/mcp`, 'cors');

  check('FastMCP', () => real.fast[0], 'cors');
  check('FastMCP, SSE', () => real.fast[1], 'cors');
  check('FastMCP, by its origin', () => new URL(real.fast[0]).origin, 'cors');
  check('FastMCP, let in', () => real.fast[2], works, { tools: 1 });
  check('FastMCP, let in, by its origin', () => new URL(real.fast[2]).origin, works, { tools: 1 });
  check('FastMCP, SSE, let in', () => real.fast[3], works, { tools: 1 });
  const noPost = { kind: 'preflightMethod', method: 'POST' };
  check('FastMCP, for GET', () => real.fast[4], noPost);
  check('FastMCP, for GET, by its origin', () => new URL(real.fast[4]).origin, noPost);
  check('FastMCP, SSE, for GET', () => real.fast[5], noPost);
  check('FastMCP, no headers', () => real.fast[6], refuses('mcp-protocol-version'));
  check('FastMCP, SSE, no headers', () => real.fast[7], refuses('mcp-protocol-version'));
  check('a session that is hidden', () => real.old[0], {
    kind: 'hiddenHeader',
    header: 'mcp-session-id',
  });
  check('a session that is shown', () => real.old[1], works, { tools: 1 });
  check('a session that may not be named', () => real.old[2], refuses('mcp-session-id'));
  for (const transport of ['sse', 'http']) {
    const at = () => real.everything[transport];
    const path = transport === 'sse' ? '/sse' : '/mcp';
    check(`server-everything, ${transport}`, at, works, { tools: 13 });
    check(`server-everything, ${transport}, by its path`, () => at() + path, works, { tools: 13 });
  }
});

test('those that never answer are told of all at once', deadline, async () => {
  const begins = await serve((_, response) => response.writeHead(200, open).write('{'));
  const silentMcp = await serve(speaksMcp({ 'server/discover': 'silence', initialize: 'silence' }));
  const noSecond = await serve(speaksMcp({ initialize: initialized, 'tools/list': 'silence' }));
  const endpoints = [
    { url: await silent() },
    { url: await silent(), key: 'x' },
    { url: `${await silent()}/mcp` },
    { url: `${await silent()}/sse` },
    { url: begins },
    { url: silentMcp },
    { url: noSecond },
    // None of them waits for another, nor is mistaken for one.
    { url: await nobody() },
    { url: 'http://192.168.77.7:8000' },
  ];
  const seen = await pages.here.evaluate((all) => globalThis.probe.lookAtAll(all), endpoints);
  assert.deepEqual(seen.kinds, [
    ...Array.from({ length: 7 }, () => 'tooSlow'),
    'notRunningOrNotHttp',
    'policy',
  ]);
  assert.ok(seen.ms < REQUEST_MS, `took ${seen.ms} ms`);
  assert.ok(seen.pause < PAUSE_MS, `the page stood still for ${seen.pause} ms`);
});

test('a scan finds those that listen', deadline, async () => {
  const port = (url) => Number(new URL(url).port);
  const { http } = real.everything;
  const nothing = await serve((_, response) => response.writeHead(404, open).end());
  const ports = [port(http), port(nothing), port(real.files), port(await silent())];
  const wanted = [...ports, port(await nobody()), port(sites.urls.here)];
  const { found, ms } = await pages.here.evaluate((ports) => globalThis.probe.scan(ports), wanted);
  const byUrl = Object.fromEntries(found.map(({ url, ...one }) => [url, one]));
  assert.deepEqual(byUrl, {
    [http]: { servers: 1, diagnosis: undefined },
    [nothing]: { servers: 0, diagnosis: 'notToolServer' },
    [real.files]: { servers: 0, diagnosis: 'cors' },
  });
  assert.ok(ms < REQUEST_MS, `took ${ms} ms`);
});

describe('on a page from elsewhere', () => {
  const fine = () => serve(documents(description));
  const one = { tools: 1 };
  const from = (from, more) => ({ from, ...more });
  check('allowed, it works', fine, works, from('granted', one));
  check('allowed, over https', fine, works, from('secure', one));
  check('allowed, and MCP', () => real.everything.http, works, from('granted', { tools: 13 }));
  check('allowed, and nobody listens', nobody, 'notRunningOrNotHttp', from('granted'));
  check('allowed, and no CORS', () => real.files, 'cors', from('granted'));
  // Whether the browser notices that somebody was there is a matter of a moment.
  const hungUp = { kind: /^not(Http|RunningOrNotHttp)$/ };
  check('allowed, and hung up', () => listenRaw((it) => it.destroy()), hungUp, from('granted'));
  check(
    'allowed, and nobody trusts the certificate',
    () => serve(documents(description), { certificate: certificateFor('localhost') }),
    'tlsNotTrusted',
    from('granted'),
  );
  check('denied', fine, 'permissionDenied', from('denied'));
  check('denied, and a key', () => withKey(fine()), 'permissionDenied', from('denied'));
  check('denied, and MCP', () => real.fast[2], 'permissionDenied', from('denied'));
  check('denied, and nobody listens', nobody, 'notRunningOrNotHttp', from('denied'));
  check('over http', fine, 'permissionNeedsHttps', from('plain'));
  check('over http, and MCP', () => real.fast[2], 'permissionNeedsHttps', from('plain'));
  check('over https, another machine', () => 'http://box.example', 'mixedContent', from('secure'));
  check('over https, our policy', () => 'http://192.168.77.7', 'policy', from('secure'));
  check('from nearby, it works', fine, works, from('near', one));

  test('it asks nobody by itself, and a click does', deadline, async (t) => {
    const page = await openSite(browser, sites.urls.site);
    t.after(() => page.context().close());
    let requests = 0;
    const url = await serve((request, response) => {
      requests += 1;
      documents(description)(request, response);
    });
    for (const endpoint of [{ url }, { url: `${url}/mcp` }, { url: await nobody(), key: 'x' }]) {
      const seen = await diagnosisOf(page, endpoint, { clicked: false });
      assert.deepEqual(seen.diagnosis, { kind: 'permissionAsk' });
    }
    const state = () =>
      page.evaluate(
        async () => (await navigator.permissions.query({ name: 'loopback-network' })).state,
      );
    assert.equal(await state(), 'prompt');
    // There is nobody to see a question here, which counts as a no.
    assert.deepEqual((await diagnosisOf(page, url)).diagnosis, { kind: 'permissionDenied' });
    assert.equal(await state(), 'denied');
    assert.equal(requests, 0);
  });

  test('nobody listens, and the browser asks all the same', deadline, async (t) => {
    const page = await openSite(browser, sites.urls.site);
    t.after(() => page.context().close());
    assert.deepEqual((await diagnosisOf(page, await nobody())).diagnosis, {
      kind: 'notRunningOrNotHttp',
    });
  });

  test('from nearby over https, one click is enough for ever', deadline, async (t) => {
    const page = await openSite(browser, sites.urls.home);
    t.after(() => page.context().close());
    const url = await fine();
    const byItself = { clicked: false };
    assert.deepEqual((await diagnosisOf(page, url, byItself)).diagnosis, { kind: 'permissionAsk' });
    assert.equal((await diagnosisOf(page, url)).tools, 1);
    assert.equal((await diagnosisOf(page, url, byItself)).tools, 1);
  });

  test('a scan says that it may not', deadline, async () => {
    const url = await fine();
    const ports = [Number(new URL(url).port), await closedPort()];
    const { found } = await pages.denied.evaluate((ports) => globalThis.probe.scan(ports), ports);
    assert.deepEqual(found, [{ url, servers: 0, diagnosis: 'permissionDenied' }]);
  });
});

const without =
  missing.length > 0 && `${missing.join(' and ')} missing: tests/setup says how to get it`;

describe('where the browser asks', { skip: without }, () => {
  let screen;
  let headed;

  before(async () => {
    screen = await Screen.start();
    const env = { ...process.env, DISPLAY: screen.display };
    headed = await sites.openBrowser({ headless: false, env });
  });
  after(async () => {
    await headed?.close();
    await screen?.stop();
  });

  /** A page that was made to ask about this address, and waits for the person. */
  async function asked(t, endpoint) {
    const page = await openSite(headed, sites.urls.site);
    t.after(() => page.context().close());
    const looking = diagnosisOf(page, endpoint);
    await waiting(page);
    return { page, looking };
  }
  const waiting = (page) =>
    page.waitForFunction(() =>
      [...globalThis.probe.local.checks.values()].some((look) => look.waiting),
    );

  for (const [how, address] of [
    ['OpenAPI', () => serve(documents(description))],
    ['MCP', () => real.fast[2]],
  ]) {
    test(`allowed, ${how}: it waits, and then there are tools`, deadline, async (t) => {
      const { page, looking } = await asked(t, await address());
      await screen.answer('allow');
      const { state, tools } = await looking;
      assert.deepEqual({ state, tools }, { state: 'found', tools: 1 });
      const unasked = await page.evaluate(() => localStorage.getItem('tenon.local.unasked'));
      assert.equal(unasked, null);
    });
  }

  test('allowed, and the server is silent', deadline, async (t) => {
    const { looking } = await asked(t, await silent());
    await screen.answer('allow');
    const { diagnosis, ms } = await looking;
    assert.deepEqual(diagnosis, { kind: 'tooSlow' });
    assert.ok(ms < REQUEST_MS + 4_000, `took ${ms} ms with the answer`);
  });

  test('not answered at all', deadline, async (t) => {
    const page = await openSite(headed, sites.urls.site, { clock: true });
    t.after(() => page.context().close());
    const looking = diagnosisOf(page, await serve(documents(description)));
    await waiting(page);
    await page.clock.fastForward(60_000);
    assert.deepEqual((await looking).diagnosis, { kind: 'permissionUnanswered' });
  });

  test('blocked', deadline, async (t) => {
    const { looking } = await asked(t, { url: await serve(documents(description)), key: 'x' });
    await screen.answer('block');
    assert.deepEqual((await looking).diagnosis, { kind: 'permissionDenied' });
  });

  test('closed: it may be asked again', deadline, async (t) => {
    const endpoint = { url: await serve(documents(description)), key: 'x' };
    const { page, looking } = await asked(t, endpoint);
    await screen.answer('close');
    assert.deepEqual((await looking).diagnosis, { kind: 'permissionDismissed' });
    const again = diagnosisOf(page, endpoint);
    await waiting(page);
    await screen.answer('allow');
    assert.equal((await again).tools, 1);
  });

  test('a scan waits for the answer', deadline, async (t) => {
    const page = await openSite(headed, sites.urls.site);
    t.after(() => page.context().close());
    const url = await serve(documents(description));
    const ports = [await closedPort(), Number(new URL(url).port)];
    const scanning = page.evaluate((ports) => globalThis.probe.scan(ports), ports);
    // Nothing tells that the browser asks by now.
    await pass(1_500);
    await screen.answer('allow');
    assert.deepEqual((await scanning).found, [{ url, servers: 1, diagnosis: undefined }]);
  });
});
