// A page from elsewhere and the permission for this computer, as a person sees it in the panel.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { findingsInBothSchemes } from './axe.js';
import { openPage } from './browser.js';
import { startCounter } from './counter.js';
import { lookAt } from './local.js';
import { Sites } from './local/sites.js';
import { allTools, eventually } from './screen.js';

const deadline = { timeout: 60_000 };
let sites;
let browser;

before(async () => {
  sites = await Sites.start();
  browser = await sites.openBrowser();
});
after(async () => {
  await browser?.close();
  await sites?.stop();
});

/** A page at a public site whose browser looks at a server that counts who asks. */
async function visit(t, options) {
  const counter = await startCounter();
  t.after(() => counter.stop());
  const { page, context } = await openPage(
    browser,
    sites.urls.site,
    lookAt(counter.url, { as: sites.tenon, ...options }),
  );
  t.after(() => context.close());
  await allTools(page).click();
  const here = page.getByRole('group', { name: 'On this computer' });
  await here.waitFor();
  return { page, here, counter };
}

/** The tool of that server, once it can be called. */
async function readyTool(counter) {
  const tools = await (await sites.tenon.fetch('/api/tools')).json();
  return tools.find(({ source }) => source.local?.url === counter.url && source.state === 'ready');
}

test('explains before the browser asks, and says how to undo a no', deadline, async (t) => {
  const { page, here, counter } = await visit(t);
  await page.clock.install();
  await page.reload();
  await allTools(page).click();
  await here
    .getByText('Your browser asks for permission before a page may access your computer.')
    .waitFor();
  assert.deepEqual(await findingsInBothSchemes(page, 'the question before that'), []);
  // Whatever the page does by itself, within a minute.
  await page.clock.fastForward(60_000);
  await page.evaluate(() => fetch('/api/auth/state'));
  assert.equal(counter.asked, 0, 'nothing was sent before the click');
  // Without a screen this browser says no for the person.
  await here.getByRole('button', { name: 'Look on this computer' }).click();
  await here.getByText(/Access to apps on this device is blocked for this site/).waitFor();
  await here
    .getByText(/icon left of the address/)
    .first()
    .waitFor();
  assert.equal(counter.asked, 0, 'what is blocked arrives nowhere');
  assert.deepEqual(await findingsInBothSchemes(page, 'what to do after a no'), []);
});

test('finds and calls by itself once the person has said yes', deadline, async (t) => {
  const { here, counter } = await visit(t, { permissions: ['local-network-access'] });
  await eventually('its tool', async () => (await readyTool(counter)) !== undefined, 20_000);
  await here.getByText(/1 tool/).waitFor();
  const { toolId } = await readyTool(counter);
  const response = await sites.tenon.fetch(`/api/tools/${toolId}/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: { number: 7 } }),
  });
  const answer = await response.json();
  assert.deepEqual(answer.structured, { number: 7 }, JSON.stringify(answer));
});
