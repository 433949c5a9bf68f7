// People for the tests of accounts: made by hand over the API, or shown on the page.
import assert from 'node:assert/strict';

export const ann = { name: 'Ann', email: 'ann@example.com', password: 'correct horse' };

/** The first account. The result is its cookie, as a header. */
export async function setUp(tenon, person = ann) {
  const response = await post(tenon, '/api/auth/setup', { ...person, code: await tenon.code() });
  assert.equal(response.status, 201);
  return cookieOf(response);
}

export async function logIn(tenon, { email, password }) {
  const response = await post(tenon, '/api/auth/login', { email, password });
  assert.equal(response.status, 200);
  return cookieOf(response);
}

export function post(tenon, path, body, headers = {}) {
  return fetch(tenon.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: tenon.url, ...headers },
    body: JSON.stringify(body),
  });
}

/** An account that somebody made for them. */
export async function added(tenon, admin, person) {
  const response = await post(tenon, '/api/users', person, admin);
  assert.equal(response.status, 201);
  return response.json();
}

function cookieOf(response) {
  return { cookie: response.headers.getSetCookie()[0].split(';')[0] };
}

/** What a person finds on the log-in pages and in the settings, by the names they see. */
export function authPageOf(page) {
  return {
    name: page.getByLabel('Your name'),
    email: page.getByLabel('E-mail', { exact: true }),
    password: page.getByLabel('Password', { exact: true }),
    logInButton: page.getByRole('button', { name: 'Log in', exact: true }),
    createButton: page.getByRole('button', { name: 'Create an account' }),
    alert: page.getByRole('alert'),
    field: page.getByRole('textbox', { name: 'Ask anything' }),
    person: page.getByRole('button', { name: /: settings and log-out$/ }),
    settings: page.getByRole('dialog', { name: 'Settings' }),

    async logIn({ email, password }) {
      await this.email.fill(email);
      await this.password.fill(password);
      await this.logInButton.click();
    },

    async openSettings(section) {
      await this.person.click();
      await page.getByRole('menuitem', { name: 'Settings' }).click();
      await this.settings.waitFor();
      if (section) await this.settings.getByRole('link', { name: section }).click();
    },
  };
}
