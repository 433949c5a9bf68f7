// People: getting in, being thrown out, and what is theirs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsInBothSchemes } from './axe.js';
import { desktop, openPage, phone } from './browser.js';
import { fixture } from './fixture.js';
import { added, ann, authPageOf, logIn, post, setUp } from './people.js';
import { address, eventually, screen } from './screen.js';
import { Tenon, withAccounts } from './tenon.js';

const suite = fixture(withAccounts);
const deadline = { timeout: 60_000 };
/** What the admin shows to the server; there is one when somebody asks for it first. */
let admin;
const asAdmin = () => (admin ??= setUp(suite.tenon));

let count = 0;
/** Somebody new, whom the admin has made an account for. */
async function somebody(role = 'user') {
  const email = `p${++count}@example.com`;
  const person = { name: `Person ${count}`, email, password: 'correct horse', role };
  return { ...person, ...(await added(suite.tenon, await asAdmin(), person)) };
}

async function visit(t, person, options) {
  await asAdmin();
  const visited = await suite.visit(t, options);
  const authPage = authPageOf(visited.page);
  if (person) {
    await authPage.logIn(person);
    await authPage.field.waitFor();
  }
  return { ...visited, authPage };
}

const hasFocus = (locator) => locator.evaluate((element) => element === document.activeElement);

test('the first visit creates the admin and leads into a chat', deadline, async (t) => {
  const tenon = await Tenon.start(withAccounts);
  t.after(() => tenon.stop());
  const { page, context, complaints } = await openPage(suite.browser, await tenon.link());
  t.after(() => context.close());
  const authPage = authPageOf(page);
  await page.getByRole('heading', { name: 'Create the admin account' }).waitFor();
  assert.ok(await hasFocus(authPage.name));
  await page.getByText('At least 8 characters.').waitFor();
  await authPage.name.fill('Ann');
  await authPage.email.fill('ann');
  await authPage.password.fill('short');
  await authPage.createButton.click();
  await page.getByText('This is not an e-mail address').waitFor();
  await page.getByText('Too short: at least 8 characters.').waitFor();
  assert.ok(await hasFocus(authPage.email));
  await authPage.email.fill('ann@example.com');
  await authPage.password.fill('correct horse');
  await page.getByRole('button', { name: 'Show the password' }).click();
  assert.equal(await authPage.password.getAttribute('type'), 'text');
  await authPage.password.press('Enter');
  await authPage.field.fill('What time is it in Tokyo?');
  await authPage.field.press('Enter');
  await screen(page).answered();
  await page.reload();
  await page.locator('article').waitFor();
  await authPage.openSettings('People');
  await authPage.settings.getByText('ann@example.com').waitFor();
  assert.deepEqual(complaints, []);
});

test('one logs in, and out again', deadline, async (t) => {
  const person = await somebody();
  const { page, authPage } = await visit(t);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assert.equal(await authPage.email.getAttribute('autocomplete'), 'username');
  assert.equal(await authPage.password.getAttribute('autocomplete'), 'current-password');
  await authPage.logInButton.click();
  assert.equal(await page.getByText('Fill this in.').count(), 2);
  await authPage.logIn({ ...person, password: 'wrong horse' });
  await authPage.alert.filter({ hasText: 'The e-mail address or the password is wrong' }).waitFor();
  await eventually('the focus is where to try again', () => hasFocus(authPage.password));
  await authPage.password.fill(person.password);
  assert.equal(await authPage.alert.count(), 0);
  await authPage.password.press('Enter');
  await authPage.field.fill('a draft of mine');
  await authPage.person.click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();

  // Another person finds nothing of it, and the same one finds it all.
  await authPage.logIn(await somebody());
  await authPage.field.waitFor();
  assert.equal(await authPage.field.inputValue(), '');
  await authPage.person.click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await authPage.logIn(person);
  await authPage.field.waitFor();
  assert.equal(await authPage.field.inputValue(), 'a draft of mine');
});

test('who tries too often is told how long to wait', deadline, async (t) => {
  const person = await somebody();
  const { authPage } = await visit(t);
  await authPage.email.fill(person.email);
  await eventually(
    'it is enough',
    async () => {
      if (await authPage.alert.filter({ hasText: /Try again in \d+ (second|minute)/ }).count())
        return true;
      if (await authPage.logInButton.isEnabled()) {
        await authPage.password.fill('wrong horse');
        await authPage.logInButton.click();
      }
      return false;
    },
    30_000,
  );
  assert.ok(await authPage.logInButton.isDisabled());
});

test('a session that ends elsewhere is asked for again, over the chat', deadline, async (t) => {
  const person = await somebody();
  const { page, authPage, ui } = await visit(t, person);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  await authPage.field.fill('half a sentence');
  const said = await ui.conversation();

  await page.clock.install();
  await post(suite.tenon, '/api/auth/logout-everywhere', {}, await logIn(suite.tenon, person));
  await page.getByText('You were logged out.').waitFor();
  assert.equal(await authPage.email.inputValue(), person.email);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByText('You were logged out.').waitFor();
  const asked = [];
  page.on('websocket', (socket) => asked.push(socket.url()));
  await page.clock.fastForward(60_000);
  await page.evaluate(() => fetch('/api/auth/state'));
  assert.deepEqual(asked, [], 'who is refused does not connect again');

  await authPage.password.fill(person.password);
  await authPage.logInButton.click();
  await page.getByText('You were logged out.').waitFor({ state: 'detached' });
  assert.equal(await authPage.field.inputValue(), 'half a sentence');
  assert.equal(await ui.conversation(), said);
  await authPage.field.press('Enter');
  await ui.answered(2);
});

test('another person who logs in over a chat sees nothing of it', deadline, async (t) => {
  const [person, other] = [await somebody(), await somebody()];
  const { page, authPage, ui } = await visit(t, person);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  await authPage.field.fill('a secret');
  await post(suite.tenon, '/api/auth/logout-everywhere', {}, await logIn(suite.tenon, person));
  await page.getByText('You were logged out.').waitFor();
  await authPage.logIn(other);
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await page.getByText('Your chats will appear here.').waitFor();
  assert.equal(await authPage.field.inputValue(), '');
  assert.equal(await page.locator('article').count(), 0);
});

test('a tab notices who logs in and out in another one', deadline, async (t) => {
  const person = await somebody();
  const { page, context, authPage } = await visit(t, person);
  const second = await context.newPage();
  await second.goto(suite.tenon.url);
  const there = authPageOf(second);
  await there.field.waitFor();
  await authPage.person.click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await second.getByText('You were logged out.').waitFor();
  await authPage.logIn(person);
  await authPage.field.waitFor();
  await second.getByText('You were logged out.').waitFor({ state: 'detached' });
});

test('a server that is away is waited for', deadline, async (t) => {
  const tenon = await Tenon.start(withAccounts);
  t.after(() => tenon.stop());
  await setUp(tenon);
  const { page, context } = await openPage(suite.browser, tenon.url);
  t.after(() => context.close());
  const authPage = authPageOf(page);
  await authPage.logInButton.waitFor();
  await tenon.kill();
  await authPage.logIn(ann);
  await authPage.alert.filter({ hasText: 'Tenon does not answer.' }).waitFor();
  await tenon.restart();
  await authPage.field.waitFor();
});

test('a key is shown once, works, and stops working', deadline, async (t) => {
  const { page, authPage } = await visit(t, await somebody());
  await authPage.openSettings('API keys');
  const { settings } = authPage;
  await settings.getByText('You have no keys.').waitFor();
  await settings.getByRole('button', { name: 'Create a key' }).click();
  await settings.getByRole('button', { name: 'Create', exact: true }).click();
  await settings.getByText('Fill this in.').waitFor();
  await settings.getByLabel('Name').fill('Backup');
  await settings.getByRole('radio', { name: 'Use' }).check();
  await settings.getByLabel('Tools allowed without asking').fill('builtin_*, mcp_github_*');
  await settings.getByRole('button', { name: 'Create', exact: true }).click();
  await settings.getByText('it is shown only once').waitFor();
  const shownKey = settings.locator('code').first();
  const key = await shownKey.innerText();
  await settings.getByLabel('Use it in').selectOption('Cursor');
  const setup = await settings.locator('pre').innerText();
  const { url, headers } = JSON.parse(setup).mcpServers.tenon;
  assert.deepEqual([url, headers.Authorization], [`${suite.tenon.url}/mcp`, `Bearer ${key}`]);
  const ask = (path) =>
    fetch(suite.tenon.url + path, { headers: { authorization: `Bearer ${key}` } });
  assert.equal((await ask('/api/chats')).status, 200);
  assert.equal((await ask('/api/users')).status, 403);
  // Nobody loses it by accident.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await settings.getByText('then press “Done”').waitFor();
  await page.mouse.click(2, 2);
  await settings.getByRole('link', { name: 'Account' }).click();
  await page.goBack();
  await page.goForward();
  assert.equal(await shownKey.innerText(), key);
  await settings.getByRole('button', { name: 'Done' }).click();
  assert.equal(await settings.getByText(key).count(), 0);
  const row = settings.getByRole('listitem').filter({ hasText: 'Backup' });
  await row.getByText('without asking: builtin_* mcp_github_*').waitFor();
  await page.reload();
  await row.getByText('last used').waitFor();

  await row.getByRole('button', { name: 'Delete: Backup' }).click();
  await page.keyboard.press('Escape');
  await row.getByText('Programs that use it stop working.').waitFor({ state: 'detached' });
  await settings.waitFor();
  await row.getByRole('button', { name: 'Delete: Backup' }).click();
  await row.getByRole('button', { name: 'Delete', exact: true }).click();
  await settings.getByText('You have no keys.').waitFor();
  assert.equal((await ask('/api/chats')).status, 401);
});

test('an account is changed, its password too, and other sessions end', deadline, async (t) => {
  const person = await somebody();
  const elsewhere = await logIn(suite.tenon, person);
  const { page, authPage } = await visit(t, person);
  await authPage.openSettings();
  const { settings } = authPage;
  await settings.getByText('this browser').waitFor();
  await settings.getByLabel('Your name').fill('安娜');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText('Saved.').waitFor();
  await page
    .getByRole('button', { name: '安娜: settings and log-out', includeHidden: true })
    .waitFor();

  await settings.getByLabel('E-mail').fill(ann.email);
  await settings.getByLabel('Current password').first().fill(person.password);
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText('There is an account with this address already.').waitFor();
  await eventually('the focus is there', () => hasFocus(settings.getByLabel('E-mail')));
  await settings.getByLabel('E-mail').fill(person.email);

  await settings.getByLabel('Current password').fill('wrong horse');
  await settings.getByLabel('New password').fill('battery staple');
  await settings.getByRole('button', { name: 'Change password' }).click();
  await settings.getByText('This is not your current password.').waitFor();
  await settings.getByLabel('Current password').fill(person.password);
  await settings.getByRole('button', { name: 'Change password' }).click();
  await settings.getByText('Password changed.').waitFor();
  const response = await fetch(`${suite.tenon.url}/api/chats`, { headers: elsewhere });
  assert.equal(response.status, 401);
  await authPage.field.waitFor();

  await logIn(suite.tenon, { ...person, password: 'battery staple' });
  await page.reload();
  const other = settings.getByRole('button', { name: 'Log out Unknown browser' });
  await other
    .or(settings.getByRole('button', { name: 'Log out node' }))
    .first()
    .click();
  await eventually('it is gone', async () => {
    const sessions = settings.getByRole('button', { name: /^Log out (?!everywhere)/ });
    return (await sessions.count()) === 0;
  });
  await settings.getByRole('button', { name: 'Log out everywhere' }).click();
  await settings.getByRole('button', { name: 'Log out everywhere' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('somebody is invited, comes, and is removed again', deadline, async (t) => {
  const { page, authPage } = await visit(t, ann);
  const { settings } = authPage;
  await authPage.openSettings('People');
  await settings.getByRole('button', { name: 'Invite someone' }).click();
  await settings.getByLabel('For this e-mail address only').fill('guest@example.com');
  await settings.getByRole('button', { name: 'Create', exact: true }).click();
  await settings.getByText('Invitation link').waitFor();
  const link = await settings.locator('code').innerText();
  await settings.getByRole('button', { name: 'Done' }).click();

  const { page: there } = await visit(t);
  await there.goto(link);
  const guest = authPageOf(there);
  await there.getByText('The invitation is for guest@example.com.').waitFor();
  assert.equal(await guest.email.inputValue(), 'guest@example.com');
  assert.equal(await guest.email.getAttribute('readonly'), '');
  await guest.name.fill('Guest');
  await guest.password.fill('correct horse');
  await guest.createButton.click();
  await guest.field.waitFor();
  assert.equal(new URL(await address(there)).hash, '#/');

  // What is an admin's is not there for others, nor can it be reached.
  await guest.openSettings();
  const parts = await guest.settings.getByRole('link').allInnerTexts();
  assert.deepEqual(parts, [
    ...['Account', 'Instructions', 'Appearance', 'Notifications', 'Shortcuts', 'API keys', 'Data'],
    ...['Tool servers', 'This computer', 'Skills', 'Permissions', 'Experts', 'Prompts'],
  ]);
  await there.goto(`${suite.tenon.url}/#/settings/people`);
  await there.getByRole('region', { name: 'Account' }).waitFor();
  await there.keyboard.press('Escape');
  await there.getByRole('button', { name: /^Model: / }).click();
  await there.getByRole('option', { name: 'Built-in assistant' }).waitFor();
  assert.equal(await there.getByRole('option', { name: /Connect|Manage/ }).count(), 0);
  await there.keyboard.press('Escape');
  assert.equal(await there.getByRole('button', { name: 'Connect a model' }).count(), 0);

  const row = settings.getByRole('listitem').filter({ hasText: 'guest@example.com' });
  await page.reload();
  await row.getByRole('button', { name: 'Options for “Guest”' }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await row.getByRole('button', { name: 'Disable', exact: true }).click();
  await row.getByText('disabled').waitFor();
  await there.getByText('You were logged out.').waitFor();
  await guest.password.fill('correct horse');
  await guest.logInButton.click();
  await guest.alert.waitFor();

  await row.getByRole('button', { name: 'Options for “Guest”' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await row.getByText('Their chats, files, keys and settings are lost for good.').waitFor();
  await row.getByRole('button', { name: 'Delete', exact: true }).click();
  await row.waitFor({ state: 'detached' });

  await settings.getByRole('link', { name: 'Log' }).click();
  await settings.getByText('Deleted a person').first().waitFor();
  await settings.getByLabel('What').selectOption('Failed log-ins');
  await settings.getByText('Failed to log in').first().waitFor();
  await settings.getByText('Deleted a person').waitFor({ state: 'detached' });
});

test('an invitation that is over says what to do', deadline, async (t) => {
  const { page } = await visit(t);
  await page.goto(`${suite.tenon.url}/#/invite/nonsense`);
  await page.getByText('This invitation is no longer valid.').waitFor();
  await page.getByRole('button', { name: 'Go to log-in' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('anyone can sign up where an admin says so', deadline, async (t) => {
  const { page, authPage } = await visit(t, ann);
  await authPage.openSettings('People');
  const open = authPage.settings.getByRole('switch', { name: 'Anyone can sign up' });
  await open.click();
  await page.locator('[role=switch][aria-checked=true]').waitFor();
  const cookie = await asAdmin();
  t.after(() =>
    fetch(`${suite.tenon.url}/api/settings`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...cookie },
      body: '{"signUp":false}',
    }),
  );
  const { page: there, authPage: guest } = await visit(t);
  await guest.createButton.click();
  await there.getByRole('heading', { name: 'Create an account' }).waitFor();
  await guest.name.fill('Bob');
  await guest.email.fill(ann.email);
  await guest.password.fill('correct horse');
  await guest.createButton.click();
  await there.getByText('There is an account with this address already.').waitFor();
  assert.ok(await hasFocus(guest.email));
  await guest.email.fill('bob@example.com');
  await guest.createButton.click();
  await guest.field.waitFor();
});

test(
  'an admin sets what holds for everybody, apart from what is their own',
  deadline,
  async (t) => {
    const { page } = await visit(t, ann);
    await page.getByRole('button', { name: /^Tools:/ }).click();
    const row = page
      .getByRole('dialog', { name: 'Tools' })
      .locator('li[title=builtin_current_time]');
    await row.getByRole('button', { name: /: allow$/ }).click();
    await page.getByText('Default for everybody').filter({ visible: true }).waitFor();
    await page.getByRole('menuitemradio', { name: 'For everybody: ask' }).click();
    await row.getByRole('button', { name: /: ask$/ }).click();
    await page.getByRole('menuitemradio', { name: 'For everybody: ask', checked: true }).waitFor();
    await page.getByRole('menuitem', { name: 'For everybody: no default' }).click();
    await row.getByRole('button', { name: /: allow$/ }).waitFor();
  },
);

test('a log-in elsewhere that failed is told', deadline, async (t) => {
  const { page } = await visit(t);
  await page.goto(`${suite.tenon.url}/#/login?error=something`);
  await page.getByText('The log-in did not work.').waitFor();
});

test('without accounts there are settings, and nothing to log out of', deadline, async (t) => {
  const tenon = await Tenon.start();
  t.after(() => tenon.stop());
  const { page, context, complaints } = await openPage(suite.browser, tenon.url, { as: tenon });
  t.after(() => context.close());
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.getByRole('link', { name: 'Tool servers' }).click();
  await settings.getByRole('button', { name: 'Add a server' }).waitFor();
  await settings.getByRole('link', { name: 'Log' }).click();
  await settings.getByText('Who did what').waitFor();
  await page.keyboard.press('Escape');
  await settings.waitFor({ state: 'detached' });
  assert.equal(new URL(await address(page)).hash, '#/');
  await page.goto(`${tenon.url}/#/settings/keys`);
  await page.getByText('which has no accounts').waitFor();
  assert.deepEqual(complaints, []);
});

for (const [name, viewport] of Object.entries({ desktop, phone })) {
  test(`no barrier on the log-in pages and in the settings: ${name}`, deadline, async (t) => {
    const small = viewport === phone ? { hasTouch: true, isMobile: true } : {};
    const { page, authPage } = await visit(t, undefined, { viewport, ...small });
    await authPage.logInButton.click();
    const found = await findingsInBothSchemes(page, 'log-in');
    await authPage.logIn(ann);
    await authPage.field.waitFor();
    await page.goto(`${suite.tenon.url}/#/settings/account`);
    for (const section of ['account', 'keys', 'people', 'log']) {
      await page.goto(`${suite.tenon.url}/#/settings/${section}`);
      await authPage.settings
        .getByRole('listitem')
        .or(authPage.settings.getByText('You have no'))
        .first()
        .waitFor();
      const opener = authPage.settings.getByRole('button', {
        name: /^(Create a key|Add a person)$/,
      });
      if (await opener.count()) await opener.click();
      found.push(...(await findingsInBothSchemes(page, section)));
      const { content, tooSmall } = await page.evaluate(() => ({
        content: document.documentElement.scrollWidth - innerWidth,
        tooSmall: [
          ...document.querySelectorAll(
            'dialog :is(button, a, select, label:has([type=radio], [type=checkbox]), input:not([type=radio], [type=checkbox], [hidden]))',
          ),
        ]
          .filter((element) => element.checkVisibility())
          .filter((element) => element.getBoundingClientRect().height < 44)
          .map((element) => element.ariaLabel ?? element.textContent),
      }));
      assert.ok(content <= 0, `${section} is wider than the page`);
      if (viewport === phone) assert.deepEqual(tooSmall, [], section);
    }
    assert.deepEqual(found, []);
  });
}
