// What the server refuses is said at the field it is about, which gets the focus.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { added, ann, authPageOf, setUp } from './people.js';
import { eventually } from './screen.js';
import { withAccounts } from './tenon.js';

const suite = fixture(withAccounts);
const deadline = { timeout: 60_000 };
let admin;
const asAdmin = () => (admin ??= setUp(suite.tenon));

async function visit(t) {
  await asAdmin();
  const visited = await suite.visit(t);
  const authPage = authPageOf(visited.page);
  await authPage.logIn(ann);
  await authPage.field.waitFor();
  return { ...visited, authPage, settings: authPage.settings };
}

/** The field is marked, has the words and the focus; nothing else in the form says so. */
async function isRefused(form, field, words) {
  const told = form.getByText(words);
  await told.waitFor();
  assert.equal(await told.count(), 1);
  assert.equal(await form.getByRole('alert').count(), 0);
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.equal(await field.getAttribute('aria-describedby'), await idOf(told));
  await eventually('the focus is there', () =>
    field.evaluate((element) => element === document.activeElement),
  );
}

const idOf = (locator) => locator.evaluate((element) => element.closest('[id]')?.id);

/** It was refused as it was sent. */
async function isForgiven(form, field, text, words) {
  await field.fill(text);
  assert.equal(await field.getAttribute('aria-invalid'), null);
  assert.equal(await form.getByText(words).count(), 0);
}

test('of a person who is added', deadline, async (t) => {
  const { authPage, settings } = await visit(t);
  await authPage.openSettings('People');
  await settings.getByRole('button', { name: 'Add a person' }).click();
  const form = settings.getByRole('form', { name: 'Add a person' });
  const password = form.getByLabel('Password', { exact: true });
  await form.getByLabel('Name').fill('Bo');
  await form.getByLabel('E-mail').fill(ann.email);
  await password.fill('x'.repeat(2_000));
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await isRefused(form, password, /bytes at most/);
  await isForgiven(form, password, 'correct horse', /bytes at most/);
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await isRefused(form, form.getByLabel('E-mail'), /an account with this address/);
});

test('of the own account', deadline, async (t) => {
  await added(suite.tenon, await asAdmin(), {
    name: 'Cy',
    email: 'cy@example.com',
    password: 'correct horse',
    role: 'user',
  });
  const { authPage, settings } = await visit(t);
  await authPage.openSettings();
  const profile = settings.getByRole('form', { name: 'Profile' });
  const mine = profile.getByLabel('Current password');
  await profile.getByLabel('E-mail').fill('cy@example.com');
  await mine.fill('wrong horse');
  await profile.getByRole('button', { name: 'Save' }).click();
  await isRefused(profile, mine, 'This is not your current password.');
  await isForgiven(profile, mine, ann.password, 'This is not your current password.');
  await profile.getByRole('button', { name: 'Save' }).click();
  await isRefused(profile, profile.getByLabel('E-mail'), /an account with this address/);

  const form = settings.getByRole('form', { name: 'Change password' });
  const change = form.getByRole('button', { name: 'Change password' });
  await form.getByLabel('Current password').fill('wrong horse');
  await form.getByLabel('New password').fill('x'.repeat(2_000));
  await change.click();
  await isRefused(form, form.getByLabel('Current password'), 'This is not your current password.');
  await form.getByLabel('Current password').fill(ann.password);
  await change.click();
  await isRefused(form, form.getByLabel('New password'), /bytes at most/);
});

test('of a key', deadline, async (t) => {
  const { authPage, settings } = await visit(t);
  await authPage.openSettings('API keys');
  await settings.getByRole('button', { name: 'Create a key' }).click();
  const form = settings.getByRole('form', { name: 'Create a key' });
  const allow = form.getByPlaceholder('builtin_*');
  await form.getByLabel('Name').fill('Backup');
  await allow.fill('builtin_calculate!');
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await isRefused(form, allow, /patterns at most/);
  await isForgiven(form, allow, 'builtin_*', /patterns at most/);
});

test('of a secret', deadline, async (t) => {
  const { authPage, settings } = await visit(t);
  await authPage.openSettings('Tool servers');
  await settings.getByRole('button', { name: 'Add a secret' }).click();
  const form = settings.getByRole('form', { name: 'Add a secret' });
  const value = form.getByLabel('Value', { exact: true });
  await form.getByLabel('Name').fill('TOKEN');
  await value.fill('x'.repeat(70_000));
  await form.getByRole('button', { name: 'Set', exact: true }).click();
  await isRefused(form, value, /too long for a secret/);
  await isForgiven(form, value, 's3cret', /too long for a secret/);
});

test('of a model, also where the field was hidden', deadline, async (t) => {
  const { page } = await visit(t);
  await page.getByRole('button', { name: /Built-in assistant/ }).click();
  await page.getByRole('button', { name: /Connect a model/ }).click();
  const form = page.getByRole('group', { name: 'Connect a model' });
  const save = form.getByRole('button', { name: 'Save' });
  await form.getByLabel('Provider').selectOption('Other');
  await form.getByLabel('Address').fill('ftp://example.com');
  await form.getByLabel('Model', { exact: true }).fill('tide-1');
  await form.getByRole('button', { name: 'More' }).click();
  await form.getByLabel('Context').fill('5');
  await form.getByRole('button', { name: 'More' }).click();
  await save.click();
  await isRefused(form, form.getByLabel('Address'), /is not an address/);
  await isForgiven(form, form.getByLabel('Address'), 'http://127.0.0.1:9/v1', /is not an address/);
  await save.click();
  await isRefused(form, form.getByLabel('Context'), /256/);
});

test('a setting that cannot be read is not one that could not be changed', deadline, async (t) => {
  const { page, authPage, settings } = await visit(t);
  let reads = 0;
  await page.route('**/api/settings', (route) =>
    route.request().method() === 'GET' && reads++ === 0 ? route.abort() : route.continue(),
  );
  await authPage.openSettings('People');
  const signUp = settings.getByRole('switch', { name: /sign up|account/i });
  await settings.getByRole('alert').waitFor();
  assert.ok(await signUp.isDisabled());
  await settings.getByRole('button', { name: 'Retry' }).click();
  await eventually('it is known', () => signUp.isEnabled());
  assert.equal(await settings.getByRole('alert').count(), 0);
});
