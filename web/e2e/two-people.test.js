// Two people at once, each with another server at the same address of their own machine.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, openPage } from './browser.js';
import { lookAt, localTools } from './local.js';
import { memory, startMcpo } from './peers.js';
import { added, ann, authPageOf, logIn, post, setUp } from './people.js';
import { eventually } from './screen.js';
import { Tenon, withAccounts } from './tenon.js';

const URL_OF_BOTH = 'http://localhost:8123';
const bob = { name: 'Bob', email: 'bob@example.com', password: 'battery staple' };

test('two people with other servers at one address never meet', { timeout: 120_000 }, async (t) => {
  const tenon = await Tenon.start(withAccounts);
  t.after(() => tenon.stop());
  const admin = await setUp(tenon);
  await added(tenon, admin, bob);
  const people = await Promise.all([ann, bob].map((person) => settle(t, tenon, person)));

  const [hers, his] = people;
  const known = new Set(hers.tools.map(({ source }) => source.id));
  for (const { source } of his.tools) assert.ok(!known.has(source.id), source.id);
  for (const { name, tools } of people) assert.equal(tools.length, 9, name);

  // Both at once, many times: everybody reads what they wrote, from their own machine.
  await Promise.all(
    people.map(async ({ name, call }) => {
      await call('create_entities', {
        entities: [{ name, entityType: 'owner', observations: [] }],
      });
      for (let round = 0; round < 20; round += 1) {
        const answer = await call('read_graph', {});
        const names = answer.structured.entities.map((entity) => entity.name);
        assert.deepEqual(names, [name]);
      }
    }),
  );

  // Nobody calls what is another's, whoever knows its id and whoever is an admin.
  for (const [somebody, { tools }] of [
    [hers, his],
    [his, hers],
  ]) {
    const own = new Set(somebody.tools.map(({ toolId }) => toolId));
    const foreign = tools.find(({ toolId }) => !own.has(toolId));
    const { toolId } = foreign ?? { toolId: 'local_nobody' };
    const response = await post(
      tenon,
      `/api/tools/${toolId}/call`,
      { arguments: {} },
      somebody.cookie,
    );
    const body = await response.text();
    assert.ok(response.status === 404 || !JSON.parse(body).ok, body);
  }
  // And one who goes away takes nothing of the other's along.
  await his.close();
  const graph = await hers.call('read_graph', {});
  assert.equal(graph.structured.entities[0].name, hers.name);
});

/** A person at a browser of their own, on a machine with a server of their own. */
async function settle(t, tenon, person) {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-apart-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const env = { MEMORY_FILE_PATH: join(folder, 'memory.json') };
  const mcpo = await startMcpo({ notes: { command: memory, env } });
  t.after(() => mcpo.stop());
  // What `localhost:8123` is on their machine.
  const { host } = new URL(mcpo.url);
  const browser = await openBrowser([`--host-resolver-rules=MAP localhost:8123 ${host}`]);
  t.after(() => browser.close());
  const cookie = await logIn(tenon, person);
  const suite = {
    tell: async (method, path, body) => {
      const response = await fetch(`${tenon.url}/api${path}`, {
        method,
        headers: { ...cookie, origin: tenon.url, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      });
      assert.ok(response.ok, `${path}: ${response.status}`);
      return response.json();
    },
  };
  const { id: account } = await suite.tell('GET', '/auth/me');
  const visit = await openPage(browser, tenon.url, lookAt(URL_OF_BOTH, { account }));
  await authPageOf(visit.page).logIn(person);
  const ready = () => localTools(suite, URL_OF_BOTH, 'ready');
  await eventually('their tools', async () => (await ready()).length > 0, 30_000);
  const tools = await ready();
  return {
    name: person.name,
    cookie,
    tools,
    close: () => visit.context.close(),
    async call(name, args) {
      const tool = tools.find(({ toolName }) => toolName.includes(name));
      const answer = await suite.tell('POST', `/tools/${tool.toolId}/call`, { arguments: args });
      assert.ok(answer.ok, JSON.stringify(answer));
      return answer;
    },
  };
}
