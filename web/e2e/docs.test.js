// The examples of docs/local-tools.md, run as they stand there. Two things alone are replaced in
// them, since the machine of the test has others: ports, by free ones, and `https://tenon.example`,
// by the address of the Tenon under test.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBrowser, openPage } from './browser.js';
import { blocksOf } from './document.js';
import { toolsAt, useServer } from './local.js';
import { startExample } from './example.js';
import { fixture } from './fixture.js';
import { ann, authPageOf, setUp } from './people.js';
import { startProxy } from './proxy.js';
import { Tenon, withAccounts } from './tenon.js';

const suite = fixture();
const deadline = { timeout: 120_000 };
const blocks = await blocksOf('local-tools.md');
const unused = new Set(blocks);

/** The blocks under a heading that fit, as long as there are any. */
function taken(heading, fits) {
  const found = blocks.filter((block) => block.heading === heading && fits(block));
  assert.ok(found.length > 0, `there is something to run under “${heading}”`);
  for (const block of found) unused.delete(block);
  return found;
}

const isCommand = ({ name }) => name === 'run';
const isInstallation = ({ name }) => name === 'install';
const isFile = (block) => block.name && !isCommand(block) && !isInstallation(block);

/** What the commands under a heading start, one after the other, with the files beside them. */
function examples(heading, { files = [heading] } = {}) {
  const beside = files.flatMap((heading) => taken(heading, isFile));
  return taken(heading, isCommand).map(({ text }) => ({ files: beside, command: text.trim() }));
}

/** Starts an example, and opens a page that looks at it: the tools, once these are there. */
async function look(t, example, names, { key } = {}) {
  const server = await startExample(example, suite.tenon.url);
  const { page, context, complaints } = await openPage(suite.browser, 'about:blank', {
    as: suite.tenon,
  });
  t.after(async () => {
    // A page would complain about a server that goes while it is connected.
    await context.close();
    await server.stop();
    assert.deepEqual(complaints.filter(isOfPage), []);
  });
  await useServer(page, server.url, { key });
  await page.goto(suite.tenon.url);
  return toolsAt(server.url, suite.tell, ...names);
}

/** What a tool server answers to a page that finds out what it is, the browser complains about. */
const isOfPage = (complaint) => !complaint.includes('Failed to load resource');

const call = ({ toolId }, input = {}, tell = suite.tell) =>
  tell('POST', `/tools/${toolId}/call`, { arguments: input });
/** What came of it, as a value where it is one and as text otherwise. */
const answer = async (...args) => {
  const { ok, content, error } = await call(...args);
  assert.ok(ok, JSON.stringify(error));
  const [first] = content;
  return first.type === 'json' ? first.value : first.text;
};

test('mcpo with several servers is used with its key', deadline, async (t) => {
  const [example] = examples('Several servers');
  const names = ['tool_list_directory_post', 'tool_read_graph_post'];
  const tools = await look(t, example, names, { key: 'top-secret' });
  assert.match(await answer(tools.tool_list_directory_post, { path: '.' }), /\[FILE] config\.json/);
  assert.deepEqual(await answer(tools.tool_read_graph_post), {
    entities: [],
    relations: [],
  });
});

test('mcpo with one server is used with its key, and not without', deadline, async (t) => {
  const [example] = examples('One server', { files: [] });
  const names = ['tool_list_directory_post'];
  const tools = await look(t, example, names, { key: 'top-secret' });
  assert.match(await answer(tools.tool_list_directory_post, { path: '.' }), /node_modules/);

  const locked = await look(t, example, names);
  const { ok, error } = await call(locked.tool_list_directory_post, { path: '.' });
  assert.equal(ok, false);
  assert.match(error.message, /401/);
});

for (const [place, transport] of ['http', 'sse'].entries()) {
  test(`FastMCP over ${transport} is used`, deadline, async (t) => {
    const example = examples('FastMCP')[place];
    assert.ok(example.command.endsWith(transport));
    const tools = await look(t, example, ['add_note', 'list_notes']);
    assert.equal(await answer(tools.add_note, { text: 'buy milk' }), '1 kept');
    assert.match(await answer(tools.list_notes), /buy milk/);
  });
}

test('Express is used', deadline, async (t) => {
  const [example] = examples('Express');
  const tools = await look(t, example, ['roll', 'show']);
  const { rolled } = await answer(tools.roll, { sides: 20 });
  assert.ok(rolled >= 1 && rolled <= 20, String(rolled));
  assert.match(await answer(tools.show), /You rolled [1-6]/);
});

for (const proxy of ['Caddyfile', 'tenon.conf']) {
  test(`a page over https uses them, with ${proxy}`, deadline, async (t) => {
    const heading = 'Tenon over https';
    const folder = await mkdtemp(join(tmpdir(), 'tenon-settings-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const [settings] = taken(heading, ({ name }) => name === 'tenon.toml');
    const config = join(folder, settings.name);
    await writeFile(config, settings.text);
    const tenon = await Tenon.start({ ...withAccounts, TENON_CONFIG: config });
    t.after(() => tenon.stop());
    const [block] = taken(heading, ({ name }) => name === proxy);
    const { origin, browserArgs, stop } = await startProxy(block, tenon.url);
    t.after(stop);
    const server = await startExample(examples('FastMCP')[0], origin);
    t.after(() => server.stop());

    const cookie = await setUp(tenon, ann);
    const tell = async (method, path, body) => {
      const headers = { 'content-type': 'application/json', origin: tenon.url, ...cookie };
      const options = { method, headers, body: body && JSON.stringify(body) };
      const response = await fetch(`${tenon.url}/api${path}`, options);
      assert.ok(response.ok, `${method} ${path}: ${response.status}`);
      return response.json();
    };
    const account = (await tell('GET', '/auth/me')).id;
    const browser = await openBrowser(browserArgs);
    t.after(() => browser.close());
    // As after a click on "Allow".
    const allowed = { permissions: ['local-network-access'] };
    const { page, complaints } = await openPage(browser, 'about:blank', allowed);
    await useServer(page, server.url, { account });
    await page.goto(origin);
    assert.ok(await page.evaluate(() => isSecureContext));
    await authPageOf(page).logIn(ann);

    const tools = await toolsAt(server.url, tell, 'add_note');
    assert.equal(await answer(tools.add_note, { text: 'from afar' }, tell), '1 kept');
    assert.deepEqual(complaints.filter(isOfPage), []);
  });
}

test('what is to be installed is what these tests have', async () => {
  const root = new URL('../../tests/peers/', import.meta.url);
  const read = (path) => readFile(new URL(path, root), 'utf8');
  const pins = [
    await read('openapi/requirements-mcpo.txt'),
    await read('mcp/requirements-fastmcp.txt'),
    Object.entries(JSON.parse(await read('openapi/express/package.json')).dependencies)
      .map((pin) => pin.join('@'))
      .join('\n'),
  ].join('\n');
  const installed = ['mcpo', 'FastMCP', 'Express'].flatMap((heading) =>
    taken(heading, isInstallation).flatMap(({ text }) => text.match(/\S+(==|@)\d\S*/g)),
  );
  assert.equal(installed.length, 5);
  for (const pin of installed) assert.ok(pins.split('\n').includes(pin), pin);
});

test('both languages have the same examples', async () => {
  const bare = (blocks) => blocks.map(({ language, name, text }) => ({ language, name, text }));
  assert.deepEqual(bare(await blocksOf('local-tools.zh-CN.md')), bare(blocks));
});

test('every example of the document has been run', () => {
  assert.deepEqual([...unused], []);
});
