// Pages that tools want shown: they run in the chat, and reach nothing from there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage, phone } from './browser.js';
import { fixture } from './fixture.js';
import { outside } from './outside.js';
import { addServer, startScriptedModel } from './scriptedModel.js';
import { startFastapi } from './peers.js';
import { address, eventually, screen } from './screen.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let app;
let provider;
let furnished;

before(async () => {
  app = await startFastapi();
});
after(async () => {
  provider?.stop();
  await app?.stop();
});

/** A server with pages, a picture and a file, and a model that calls it. */
async function furnish() {
  provider = await startScriptedModel(suite);
  const paths = {
    '/answer/page/{name}': {
      get: {
        operationId: 'page',
        parameters: [
          { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'shown', in: 'query', schema: { type: 'boolean' } },
          { name: 'port', in: 'query', schema: { type: 'integer' } },
        ],
      },
    },
    '/answer/picture': { get: { operationId: 'picture' } },
    '/answer/file': { get: { operationId: 'file' } },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Weather', version: '1' },
    servers: [{ url: app.url }],
    paths,
  };
  const tools = ['page', 'picture', 'file'].map((name) => `api_weather_${name}`);
  await addServer(suite, { kind: 'openapi', name: 'weather', document }, ...tools);
}

async function visit(t, options) {
  await (furnished ??= furnish());
  return suite.visit(t, options);
}

const frameOf = (page) => page.locator('figure iframe');

/** What a page may not do the browser complains about; that is what it is there for. */
async function visitSandboxedPage(t) {
  await (furnished ??= furnish());
  const { page, context, complaints } = await openPage(suite.browser, suite.tenon.url, {
    as: suite.tenon,
  });
  t.after(async () => {
    await context.close();
    const others = complaints.filter(
      (text) => !/Content Security Policy|sandbox|Unsafe attempt|allow-modals/i.test(text),
    );
    assert.deepEqual(others, []);
  });
  await page.locator('main').waitFor();
  return { page, ui: screen(page) };
}

test('a page is shown under its card and its script has run', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('Call page {"name": "report"}');
  await ui.answered();
  const card = ui.cards.first();
  assert.equal(await card.getByRole('button').getAttribute('aria-expanded'), 'false');
  const frame = frameOf(page);
  await frame.waitFor();
  assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts');
  assert.equal(await frame.getAttribute('title'), 'Page from weather/page');
  const inside = page.frameLocator('figure iframe');
  await inside.getByText('The most: 235.').waitFor();
  assert.equal(await inside.locator('rect').count(), 12);
  await page.getByText('Page from weather/page').waitFor();
  // It is as high as what is on it.
  const height = () => frame.evaluate((element) => element.getBoundingClientRect().height);
  await eventually('its height', async () => Math.abs((await height()) - 320) > 1);
  const [outer, inner] = [
    await height(),
    await inside.locator('html').evaluate((root) => root.scrollHeight),
  ];
  assert.ok(Math.abs(outer - inner) <= 1, `${outer} ${inner}`);

  // The model has read what is written on it.
  const told = JSON.stringify(provider.asked.map(({ messages }) => messages));
  assert.match(told, /which Tenon's chat shows to the user\./);
  assert.match(told, /Millimetres a month\./);
  assert.doesNotMatch(told, /createElementNS/);

  // It is there again, and its source is in the details.
  await page.reload();
  await inside.getByText('The most: 235.').waitFor();
  await card.getByRole('button').first().click();
  const [source] = await Promise.all([
    page.waitForEvent('popup'),
    card.getByRole('link', { name: /^Open full output/ }).click(),
  ]);
  await source.getByText('createElementNS').waitFor();
  await source.close();
});

test('a page reaches neither Tenon nor anything else', deadline, async (t) => {
  const { page, ui } = await visitSandboxedPage(t);
  const arrived = await outside(t);
  const requests = [];
  page.on('requestfinished', (request) => requests.push(request));
  await ui.ask(`Call page {"name": "prisoner", "port": ${arrived.port}}`);
  await ui.answered();
  const inside = page.frameLocator('figure iframe');
  await inside.getByText('still here').waitFor();
  assert.deepEqual(JSON.parse(await inside.locator('#tried').innerText()), {
    origin: 'null',
    'the page around it': 'SecurityError',
    'where that is': 'SecurityError',
    'leading it away': 'SecurityError',
    cookies: 'SecurityError',
    storage: 'SecurityError',
    'a window': 'none',
    'a dialog': false,
    'the API': 'TypeError',
    'another server': 'TypeError',
    'a beacon': 'sent, it believes',
    'a socket': 'none',
    'a worker': 'none',
    'a picture': 'none',
    'a script': 'none',
    'a frame': 'made',
    'a form': 'still here',
    'a call': 'made',
  });
  assert.equal(arrived.count, 0);
  const [frame] = page.frames().filter((frame) => frame.parentFrame() === page.mainFrame());
  const sent = requests.filter((request) => request.frame() === frame);
  assert.deepEqual(
    sent.map((request) => new URL(request.url()).pathname.replace(/[^/]+\/frame$/, ':id/frame')),
    ['/api/blobs/:id/frame'],
  );
  // It asked to be enormous.
  const { height } = await frameOf(page).boundingBox();
  assert.equal(height, page.viewportSize().height * 0.7);
});

test('a page cannot leave its place, and nobody else can speak for it', deadline, async (t) => {
  const { page, ui } = await visitSandboxedPage(t);
  const arrived = await outside(t);
  const blocked = page.waitForEvent('console', {
    predicate: (message) => /frame-src/.test(message.text()),
  });
  await ui.ask(`Call page {"name": "runaway", "port": ${arrived.port}}`);
  await ui.answered();
  await blocked;
  assert.equal(arrived.count, 0);
  const frame = frameOf(page);
  const before = await frame.evaluate((element) => element.style.height);
  // The page's own listener is older, so it has run when this one does.
  await page.evaluate(() => {
    const arrived = new Promise((resolve) => addEventListener('message', resolve, { once: true }));
    postMessage({ type: 'iframe:height', height: 555 }, '*');
    return arrived.then(() => {});
  });
  assert.equal(await frame.evaluate((element) => element.style.height), before);
});

test('a page on its own is refused', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('Call page {"name": "report"}');
  await ui.answered();
  const src = await frameOf(page).getAttribute('src');
  const answer = await page.goto(`${suite.tenon.url}${src}`);
  assert.equal(answer.status(), 403);
});

test('a page that nobody wants shown is text', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('Call page {"name": "report", "shown": false}');
  await ui.answered();
  const card = ui.cards.first();
  await card.getByRole('button').click();
  await card.getByRole('region', { name: 'Output' }).getByText('<!doctype html>').waitFor();
  assert.equal(await page.locator('iframe').count(), 0);
});

test('pictures and files of an OpenAPI server are shown and downloaded', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('Call picture');
  await ui.answered();
  await ui.cards.first().getByRole('button').click();
  const picture = ui.cards.first().getByRole('img', { name: 'Image from the tool' });
  await picture.waitFor();
  assert.equal(await picture.evaluate((image) => image.naturalWidth), 1);
  await ui.ask('Call file');
  await ui.answered(2);
  await ui.cards.nth(1).getByRole('button').first().click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    ui.cards.nth(1).getByRole('link', { name: 'Download 名.zip (4 B)' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), '名.zip');
});

test('a page fills the screen and comes back, by the keyboard', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('Call page {"name": "report"}');
  await ui.answered();
  await page.frameLocator('figure iframe').getByText('The most: 235.').waitFor();
  const large = page.getByRole('button', { name: 'Full screen', exact: true });
  await large.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Leave full screen' }).waitFor();
  assert.ok(await page.evaluate(() => document.fullscreenElement?.tagName === 'FIGURE'));
  await page.keyboard.press('Enter');
  await large.waitFor();
});

test('whoever reads a shared chat is told that there was a page', deadline, async (t) => {
  const { page, ui } = await visit(t, { viewport: phone, colorScheme: 'dark' });
  await ui.ask('Call page {"name": "report"}');
  await ui.answered();
  const { width } = await page.locator('figure').boundingBox();
  assert.ok(width <= phone.width, String(width));
  const id = (await address(page)).split('/').pop();
  const { token } = await suite.tell('POST', `/chats/${id}/share`, { withTools: true });
  const reader = await openPage(suite.browser, `${suite.tenon.url}/#/shared/${token}`);
  t.after(async () => {
    await reader.context.close();
    assert.deepEqual(reader.complaints, []);
  });
  await reader.page.getByText('A page was shown here.').waitFor();
  assert.equal(await reader.page.locator('iframe').count(), 0);
  await reader.page.locator('.card button').first().click();
  await reader.page.getByText('Millimetres a month.').waitFor();
  assert.equal(await reader.page.locator('.card a').count(), 0);
});
