// Tool servers on the person's own machine that have much to say.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { openPage } from './browser.js';
import { toolsAt, useServer } from './local.js';
import { fixture } from './fixture.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
const MIB = 1024 * 1024;

/** A page that looks at a server which answers these paths, and how often it had to connect. */
async function look(t, answers) {
  const server = createServer(({ url }, response) => {
    response.setHeader('access-control-allow-origin', suite.tenon.url);
    const answer = answers[url];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  server.listen(0);
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://localhost:${server.address().port}`;
  const { page, context } = await openPage(suite.browser, 'about:blank', { as: suite.tenon });
  t.after(() => context.close());
  const sockets = [];
  page.on('websocket', (socket) => sockets.push(socket));
  await useServer(page, url);
  await page.goto(suite.tenon.url);
  return { url, sockets };
}

const described = (operationId, description = '') => ({
  openapi: '3.1.0',
  info: { title: operationId, version: '1' },
  paths: { [`/${operationId}`]: { get: { operationId, description, responses: {} } } },
});

test('servers that offer more than goes into one frame are all taken in', deadline, async (t) => {
  const names = ['one', 'two', 'three', 'four', 'five'];
  const links = names.map((name) => `    - [${name}](/${name}/docs)`).join('\n');
  const main = { openapi: '3.1.0', info: { title: 'Main', version: '1', description: links } };
  const subs = names.map((name) => [
    `/${name}/openapi.json`,
    described(name, `${name} `.repeat((6 * MIB) / (name.length + 1))),
  ]);
  const answers = { '/openapi.json': { ...main, paths: {} }, ...Object.fromEntries(subs) };
  const { url, sockets } = await look(t, answers);
  const tools = await toolsAt(url, suite.tell, ...names);
  assert.deepEqual(Object.keys(tools).sort(), [...names].sort());
  assert.equal(sockets.length, 1);
});

test('an answer that is twice as long in JSON is passed on', deadline, async (t) => {
  const answers = { '/openapi.json': described('quotes'), '/quotes': '"'.repeat(14 * MIB) };
  const { url, sockets } = await look(t, answers);
  const { quotes } = await toolsAt(url, suite.tell, 'quotes');
  const { ok, content } = await suite.tell('POST', `/tools/${quotes.toolId}/call`, {
    arguments: {},
  });
  assert.ok(ok);
  // So much of it is shown; the rest can be paged through.
  assert.match(content[0].text.slice(0, 1_000), /^"{1000}$/);
  assert.equal(sockets.length, 1);
});
