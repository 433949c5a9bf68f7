// Who is no admin: what others run is there to use, and what they add is theirs alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { memory } from './peers.js';
import { added, ann, authPageOf, post, setUp } from './people.js';
import { serversOf } from './servers.js';
import { withAccounts } from './tenon.js';

const suite = fixture(withAccounts);
const deadline = { timeout: 90_000 };
const bob = { name: 'Bob', email: 'bob@example.com', password: 'battery staple' };
let admin;

async function furnish() {
  if (admin) return;
  admin = await setUp(suite.tenon, ann);
  await added(suite.tenon, admin, bob);
  const shared = { kind: 'mcp', name: 'memory', title: 'Notebook', command: memory };
  assert.equal((await post(suite.tenon, '/api/sources', shared, admin)).status, 201);
}

async function enter(t, person) {
  const visit = await suite.visit(t);
  const authPage = authPageOf(visit.page);
  await furnish();
  await visit.page.reload();
  await authPage.logIn(person);
  await authPage.field.waitFor();
  const servers = serversOf(visit.page);
  await servers.open();
  return { ...visit, servers };
}

test('who is no admin uses what is shared, and cannot change it', deadline, async (t) => {
  const { servers } = await enter(t, bob);
  const row = servers.row('Notebook');
  await row.getByText(/Ready · 9 tools/).waitFor({ timeout: 30_000 });
  assert.equal(await row.getByRole('button').count(), 0);
  assert.equal(await row.getByRole('switch').count(), 0);
});

test('who is no admin adds addresses, for themself', deadline, async (t) => {
  const { servers } = await enter(t, bob);
  await servers.add.click();
  assert.equal(await servers.form.getByRole('radio', { name: 'A program' }).count(), 0);
  await servers.form.getByLabel('Address', { exact: true }).fill('https://mcp.example.com/mcp');
  assert.equal(await servers.form.getByLabel('Name', { exact: true }).inputValue(), 'example');
  await servers.form.getByRole('button', { name: 'Add', exact: true }).click();
  await servers.row('example').getByText('only yours').waitFor();
  await servers.row('example').getByRole('switch').waitFor();

  const other = await enter(t, ann);
  await other.servers.row('Notebook').waitFor();
  assert.equal(await other.servers.row('example').count(), 0);
});

test('an admin says for whom it is', deadline, async (t) => {
  const { servers } = await enter(t, ann);
  await servers.add.click();
  await servers.form.getByRole('radio', { name: 'Only for me' }).check();
  await servers.form.getByLabel('Command').fill(memory);
  await servers.form.getByLabel('Name', { exact: true }).fill('own');
  await servers.form.getByRole('button', { name: 'Add', exact: true }).click();
  await servers.row('own').getByText('only yours').waitFor();

  const other = await enter(t, bob);
  await other.servers.row('Notebook').waitFor();
  assert.equal(await other.servers.row('own').count(), 0);
});
