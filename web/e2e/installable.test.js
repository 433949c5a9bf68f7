// The page as an app: manifest, offline shell, and what is told in the background.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage } from './browser.js';
import { fixture } from './fixture.js';
import { eventually, screen } from './screen.js';
import { Tenon } from './tenon.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

test('the manifest names icons that are there', deadline, async () => {
  const response = await suite.tenon.fetch('/manifest.webmanifest');
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /json/);
  const manifest = await response.json();
  assert.equal(manifest.name, 'Tenon');
  const sizes = new Set();
  for (const { src, sizes: size, purpose } of manifest.icons) {
    const icon = await suite.tenon.fetch(src);
    assert.equal(icon.status, 200, src);
    assert.match(icon.headers.get('content-type'), /^image\//);
    sizes.add(`${size} ${purpose}`);
    if (!src.endsWith('.png')) continue;
    // The width stands in the header of a PNG.
    const bytes = Buffer.from(await icon.arrayBuffer());
    assert.equal(bytes.readUInt32BE(16), Number(size.split('x')[0]), src);
  }
  for (const wanted of ['192x192 any', '512x512 any', '512x512 maskable'])
    assert.ok(sizes.has(wanted));
});

/** A page with its service worker in charge. */
async function install(t, tenon) {
  const visit = await openPage(suite.browser, tenon.url, { as: tenon, serviceWorkers: 'allow' });
  t.after(() => visit.context.close());
  const { page } = visit;
  await page.getByRole('textbox', { name: 'Ask anything' }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await eventually('the worker is in charge', () =>
    page.evaluate(() => navigator.serviceWorker.controller !== null),
  );
  return visit;
}

const kept = (page) =>
  page.evaluate(async () => {
    const names = await caches.keys();
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return { names, paths: requests.flat().map(({ url }) => new URL(url).pathname) };
  });

test('the worker keeps the page and nothing that is anybody’s', deadline, async (t) => {
  const { page, complaints } = await install(t, suite.tenon);
  const ui = screen(page);
  await page.reload();
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  await page.evaluate(() => (location.hash = '#/settings/servers'));
  await page.getByRole('region', { name: 'Tool servers' }).waitFor();
  const { names, paths } = await kept(page);
  assert.equal(names.length, 1);
  assert.ok(paths.includes('/'));
  assert.deepEqual(
    paths.filter(
      (path) =>
        path !== '/' &&
        !path.startsWith('/assets/') &&
        !/^\/[\w-]+\.(js|svg|png|webmanifest)$/.test(path),
    ),
    [],
  );
  assert.deepEqual(complaints, []);
});

test(
  'a server that is down shows the shell, and the page goes on when it is back',
  deadline,
  async (t) => {
    const tenon = await Tenon.start();
    t.after(() => tenon.stop());
    const { page } = await install(t, tenon);
    await tenon.kill();
    await page.reload();
    await page.getByText('Tenon does not answer.').waitFor();
    await page.getByText('reconnects by itself').waitFor();
    await tenon.restart();
    await page.getByRole('textbox', { name: 'Ask anything' }).waitFor();
    const ui = screen(page);
    await ui.ask('What time is it in Tokyo?');
    await ui.answered();
    assert.match(await ui.answers.last().innerText(), /Tokyo/);
  },
);

test('what an older build kept is gone with the new one', deadline, async (t) => {
  const { page } = await install(t, suite.tenon);
  await page.evaluate(async () => {
    await (await caches.open('tenon-older')).put('/assets/old.js', new Response('old'));
    await (await navigator.serviceWorker.getRegistration()).unregister();
  });
  await page.reload();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await eventually('only the new one is kept', async () => {
    const { names } = await kept(page);
    return names.length === 1 && names[0] !== 'tenon-older';
  });
});

/** Notifications that can be seen, and a page that can be put into the background. */
function recordNotifications() {
  globalThis.shown = [];
  globalThis.away = false;
  class FakeNotification {
    static permission = 'default';
    static requestPermission() {
      FakeNotification.permission = 'granted';
      return Promise.resolve('granted');
    }
    constructor(title, { body }) {
      globalThis.shown.push(this);
      Object.assign(this, { title, body });
    }
    close() {}
  }
  globalThis.Notification = FakeNotification;
  Object.defineProperty(document, 'visibilityState', {
    get: () => (globalThis.away ? 'hidden' : 'visible'),
  });
  document.hasFocus = () => !globalThis.away;
}

/** Somebody who is notified. */
async function visitNotified(t) {
  const visit = await suite.visit(t);
  const { page, context, ui } = visit;
  await context.addInitScript(recordNotifications);
  await page.reload();
  await ui.field.waitFor();
  await page.evaluate(() => (location.hash = '#/settings/notifications'));
  await page.getByRole('switch', { name: 'Notify me in this browser' }).click();
  return {
    ...visit,
    bodies: () => page.evaluate(() => globalThis.shown.map(({ body }) => body)),
    setAway: (away) =>
      page.evaluate((away) => {
        globalThis.away = away;
        document.dispatchEvent(new Event('visibilitychange'));
      }, away),
  };
}

test(
  'in the background an answer is told by a notification and in the title',
  deadline,
  async (t) => {
    const { page, ui, bodies, setAway } = await visitNotified(t);
    await page.getByRole('button', { name: 'Send a test notification' }).click();
    assert.deepEqual(await bodies(), ['Notifications work.']);
    await page.keyboard.press('Escape');

    await ui.ask('sleep for 2 seconds');
    await page.locator('.card[data-status=running]').waitFor();
    const chat = await page.evaluate(() => location.hash);
    await setAway(true);
    await eventually('it is told', async () => (await bodies()).length === 2);
    assert.match((await bodies())[1], /^The answer in “.+” is ready\.$/);
    await eventually('the title counts it', async () => /^\(1\) /.test(await page.title()));
    await page.evaluate(() => (location.hash = '#/'));
    await page.evaluate(() => globalThis.shown[1].onclick());
    await eventually(
      'a click opens that chat',
      async () => (await page.evaluate(() => location.hash)) === chat,
    );
    await setAway(false);
    await eventually('it was seen', async () => !(await page.title()).startsWith('('));
  },
);

test('in the background a call that waits for approval is told', deadline, async (t) => {
  const policy = (policy) =>
    suite.tell('PATCH', '/tools', {
      layer: 'user',
      tools: [{ toolId: 'builtin_current_time', policy }],
    });
  await policy('ask');
  t.after(async () => {
    await policy(null);
    await suite.tenon.cancelTurns();
  });
  const { page, ui, bodies, setAway } = await visitNotified(t);
  await page.keyboard.press('Escape');
  await setAway(true);
  await ui.ask('What time is it in Tokyo?');
  await page.locator('.card[data-status=asking]').waitFor();
  await eventually('it is told', async () => (await bodies()).length === 1);
  assert.match((await bodies())[0], /^“.+” is waiting for you\.$/);
  const chat = await page.evaluate(() => location.hash);
  await page.evaluate(() => (location.hash = '#/'));
  await page.evaluate(() => globalThis.shown[0].onclick());
  await page.locator('.card[data-status=asking]').waitFor();
  assert.equal(await page.evaluate(() => location.hash), chat);
});
