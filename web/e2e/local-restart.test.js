// A tool server on the person's own machine that goes and comes back.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { openPage } from './browser.js';
import { toolsAt, useServer } from './local.js';
import { fixture } from './fixture.js';
import { freePort } from './peers.js';
import { eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

async function serve(port) {
  const paths = { '/ping': { get: { operationId: 'ping', responses: {} } } };
  const document = { openapi: '3.1.0', info: { title: 'Ping', version: '1' }, paths };
  const server = createServer(({ url }, response) => {
    response.setHeader('access-control-allow-origin', suite.tenon.url);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(url === '/ping' ? 'pong' : document));
  });
  server.listen(port);
  await once(server, 'listening');
  return {
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('is used again when it is back, by itself', deadline, async (t) => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  let server = await serve(port);
  t.after(() => server.stop());
  const { page, context } = await openPage(suite.browser, 'about:blank', { as: suite.tenon });
  t.after(() => context.close());
  await useServer(page, url);
  await page.goto(suite.tenon.url);
  const { ping } = await toolsAt(url, suite.tell, 'ping');
  const call = () => suite.tell('POST', `/tools/${ping.toolId}/call`, { arguments: {} });
  assert.equal((await call()).ok, true);

  await server.stop();
  assert.equal((await call()).error.kind, 'unavailable');
  await eventually('it is known to be away', async () => {
    const tools = await suite.tell('GET', '/tools');
    return tools.find(({ toolId }) => toolId === ping.toolId).source.state !== 'ready';
  });

  server = await serve(port);
  await toolsAt(url, suite.tell, 'ping');
  assert.equal((await call()).ok, true);
});
