// What a log-in is not enough for: keys, a first password, and what somebody left in an account.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openBrowser, openPage } from './browser.js';
import { Issuer } from './issuer.js';
import { added, ann, authPageOf, logIn, post, setUp } from './people.js';
import { address, eventually } from './screen.js';
import { Tenon, withAccounts } from './tenon.js';

const deadline = { timeout: 60_000 };
let folder, database, issuer, tenon, browser, admin;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-proof-'));
  database = join(folder, 'tenon.db');
  issuer = await Issuer.start();
  const settings = join(folder, 'tenon.toml');
  const oidc = `issuer = "${issuer.url}"\nclient_id = "tenon"\nname = "Example"\nsign_up = true\n`;
  await writeFile(settings, `[oidc]\n${oidc}`);
  const environment = { TENON_CONFIG: settings, TENON_DATABASE: `sqlite://${database}` };
  tenon = await Tenon.start({ ...withAccounts, ...environment });
  browser = await openBrowser();
  admin = await setUp(tenon);
});
after(async () => {
  await browser?.close();
  await tenon?.stop();
  await issuer?.stop();
  await rm(folder, { recursive: true, force: true });
});

let count = 0;
async function somebody() {
  const email = `q${++count}@example.com`;
  const person = { name: `Person ${count}`, email, password: 'correct horse', role: 'user' };
  return { ...person, ...(await added(tenon, admin, person)) };
}

/** Makes every log-in older than what counts as fresh. */
function ageLogIns() {
  const age = 'UPDATE auth_sessions SET created_at = created_at - 11 * 60 * 1000';
  const python = `import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=20) as database: database.execute(sys.argv[2])`;
  execFileSync('python3', ['-c', python, database, age]);
}

async function visit(t, options) {
  const visited = await openPage(browser, tenon.url, options);
  t.after(() => visited.context.close());
  return { ...visited, authPage: authPageOf(visited.page) };
}

async function keyOf(person) {
  const made = await post(tenon, '/api/keys', { name: 'ci' }, await logIn(tenon, person));
  assert.equal(made.status, 201);
  const { key } = await made.json();
  return async () => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${tenon.url}/api/auth/me`, { headers })).status;
  };
}

const hasFocus = (locator) => locator.evaluate((element) => element === document.activeElement);

test('an old log-in asks for the password before it makes a key', deadline, async (t) => {
  const person = await somebody();
  const { page, authPage } = await visit(t);
  await authPage.logIn(person);
  await authPage.field.waitFor();
  ageLogIns();
  await authPage.openSettings('API keys');
  const { settings } = authPage;
  await settings.getByRole('button', { name: 'Create a key' }).click();
  await settings.getByLabel('Name').fill('Backup');
  const password = settings.getByLabel('Your password');
  const create = settings.getByRole('button', { name: 'Create', exact: true });
  assert.equal(await password.count(), 0);
  await create.click();
  await password.waitFor();
  await settings.getByText('You logged in some time ago').waitFor();
  await eventually('the focus is there', () => hasFocus(password));
  assert.equal(await password.getAttribute('autocomplete'), 'current-password');
  assert.equal(await settings.getByRole('alert').count(), 0);

  await create.click();
  await settings.getByText('Enter your password').waitFor();
  await password.fill('wrong horse');
  await page.keyboard.press('Enter');
  await settings.getByText('This is not your current password.').waitFor();
  await eventually('the focus is there', () => hasFocus(password));
  assert.equal(await settings.getByLabel('Name').inputValue(), 'Backup');
  await password.fill(person.password);
  await page.keyboard.press('Enter');
  await settings.getByText('it is shown only once').waitFor();
});

test('a new password ends the keys, unless one says otherwise', deadline, async (t) => {
  const person = await somebody();
  const works = await keyOf(person);
  const { authPage } = await visit(t);
  await authPage.logIn(person);
  await authPage.field.waitFor();
  await authPage.openSettings();
  const { settings } = authPage;
  const change = async (from, to) => {
    await settings.getByLabel('Current password').fill(from);
    await settings.getByLabel('New password').fill(to);
    await settings.getByRole('button', { name: 'Change password' }).click();
    await settings.getByText('Password changed.').waitFor();
  };
  const end = settings.getByRole('checkbox', { name: 'Revoke my API keys too' });
  assert.ok(await end.isChecked());
  await end.uncheck();
  await change(person.password, 'battery staple');
  assert.equal(await works(), 200);
  assert.ok(await end.isChecked(), 'it is on again');
  await change('battery staple', person.password);
  assert.equal(await works(), 401);
});

test('logging out everywhere ends the keys, unless one says otherwise', deadline, async (t) => {
  const person = await somebody();
  const works = await keyOf(person);
  const { page, authPage } = await visit(t);
  const leave = async (keep) => {
    await authPage.logIn(person);
    await authPage.field.waitFor();
    await authPage.openSettings();
    const out = authPage.settings.getByRole('button', { name: 'Log out everywhere' });
    await out.click();
    const group = authPage.settings.getByRole('group', { name: 'Log out everywhere' });
    const end = group.getByRole('checkbox', { name: 'Revoke my API keys too' });
    assert.ok(await end.isChecked());
    if (keep) await end.uncheck();
    await group.getByRole('button', { name: 'Log out everywhere' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  };
  await leave(true);
  assert.equal(await works(), 200);
  await leave(false);
  assert.equal(await works(), 401);
});

test(
  'an admin who sets a password ends the keys, unless they say otherwise',
  deadline,
  async (t) => {
    const person = await somebody();
    const works = await keyOf(person);
    const { page, authPage } = await visit(t);
    await authPage.logIn(ann);
    await authPage.field.waitFor();
    await authPage.openSettings('People');
    const row = authPage.settings.getByRole('listitem').filter({ hasText: person.email });
    const set = async (keep) => {
      await row.getByRole('button', { name: person.name }).click();
      await page.getByRole('menuitem', { name: 'New password…' }).click();
      await row.getByLabel(`New password for ${person.name}`).last().fill('battery staple');
      const end = row.getByRole('checkbox', { name: 'Revoke their API keys too' });
      assert.ok(await end.isChecked());
      if (keep) await end.uncheck();
      await row.getByRole('button', { name: 'Save' }).click();
      await end.waitFor({ state: 'detached' });
    };
    await set(true);
    assert.equal(await works(), 200);
    await set(false);
    assert.equal(await works(), 401);
  },
);

test('who has no password proves themself at the issuer and comes back', deadline, async (t) => {
  issuer.claims = { sub: 'ada', email: 'ada@example.com', name: 'Ada' };
  const { page, authPage } = await visit(t);
  await page.getByRole('link', { name: 'Log in with Example' }).click();
  await authPage.field.waitFor();
  ageLogIns();
  await authPage.openSettings('API keys');
  const { settings } = authPage;
  const create = settings.getByRole('button', { name: 'Create', exact: true });
  await settings.getByRole('button', { name: 'Create a key' }).click();
  await settings.getByLabel('Name').fill('Backup');
  await create.click();
  await settings.getByText('You have no password here').waitFor();
  assert.equal(await settings.getByLabel('Your password').count(), 0);
  await settings.getByRole('button', { name: 'Log in again' }).click();
  await settings.getByText('You have no keys.').waitFor();
  assert.equal(new URL(await address(page)).hash, '#/settings/keys');
  assert.equal(issuer.asked.at(-1).searchParams.get('prompt'), 'login');
  await settings.getByRole('button', { name: 'Create a key' }).click();
  await settings.getByLabel('Name').fill('Backup');
  await create.click();
  await settings.getByText('it is shown only once').waitFor();
  await settings.getByRole('button', { name: 'Done' }).click();

  // The same before they set a password.
  ageLogIns();
  await settings.getByRole('link', { name: 'Account' }).click();
  await settings.getByText('Leave empty if you have none').waitFor();
  const set = async () => {
    await settings.getByLabel('New password').fill('correct horse');
    await settings.getByRole('button', { name: 'Change password' }).click();
  };
  await set();
  await settings.getByRole('button', { name: 'Log in again' }).click();
  await settings.getByRole('button', { name: 'Change password' }).waitFor();
  assert.equal(new URL(await address(page)).hash, '#/settings/account');
  await set();
  await settings.getByText('Password changed.').waitFor();
});

test('the owner of an account is told what was switched off in it', deadline, async (t) => {
  const mallory = await somebody();
  const hers = await logIn(tenon, mallory);
  const spy = { kind: 'mcp', name: 'spy', url: 'https://127.0.0.1:9/mcp' };
  assert.equal((await post(tenon, '/api/sources', spy, hers)).status, 201);
  issuer.claims = { sub: 'owner', email: mallory.email, name: 'Owner' };
  const { page, authPage } = await visit(t);
  await page.getByRole('link', { name: 'Log in with Example' }).click();
  const servers = authPage.settings.getByRole('listitem').filter({ hasText: 'spy' });
  const notice = page.getByRole('dialog', { name: 'Someone used this account before you' });
  await notice.getByText('A tool server is switched off: spy').waitFor();
  await page.reload();
  await notice.getByRole('button', { name: 'Open tool servers' }).click();
  await servers.filter({ hasText: 'Switched off' }).waitFor();
  await notice.waitFor({ state: 'detached' });
  await page.reload();
  await servers.filter({ hasText: 'Switched off' }).waitFor();
  assert.equal(await notice.count(), 0);
});
