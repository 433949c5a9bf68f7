// One server and one browser for all tests of a file.
import { after, before } from 'node:test';
import { openBrowser, openPage } from './browser.js';
import { screen } from './screen.js';
import { Tenon } from './tenon.js';
import assert from 'node:assert/strict';

/** `environment` is what the server finds in its own. */
export function fixture(environment) {
  const shared = { tenon: undefined, browser: undefined };

  before(async () => {
    [shared.tenon, shared.browser] = await Promise.all([Tenon.start(environment), openBrowser()]);
  });
  after(async () => {
    await shared.browser?.close();
    await shared.tenon?.stop();
  });

  return {
    get tenon() {
      return shared.tenon;
    },

    get browser() {
      return shared.browser;
    },

    /** A visit by someone new. Ends with the test, and with no complaint of the page. */
    async visit(test, options) {
      const visit = await openPage(shared.browser, shared.tenon.url, {
        as: shared.tenon,
        ...options,
      });
      test.after(async () => {
        await visit.context.close();
        assert.deepEqual(visit.complaints, []);
      });
      // It asks who is here before it shows anything.
      await visit.page.locator('main').waitFor();
      return { ...visit, ui: screen(visit.page) };
    },

    /** Says something to the server as another page of the same person would. */
    async tell(method, path, body) {
      const response = await shared.tenon.fetch(`/api${path}`, {
        method,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
      return text ? JSON.parse(text) : undefined;
    },
  };
}
