// Pages, pictures and diagrams in answers: looked at beside the chat, and unable to leave it.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { findingsInBothSchemes } from './axe.js';
import { openBrowser, openPage, phone } from './browser.js';
import { fixture } from './fixture.js';
import { outside } from './outside.js';
import { startScriptedModel } from './scriptedModel.js';
import { eventually, screen } from './screen.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let provider;
after(() => provider?.stop());

const fenced = (info, text) => `\`\`\`${info}\n${text}\n\`\`\``;
const panel = (page) => page.getByRole('region', { name: /^Artifact: / });
const inside = (page) => page.frameLocator('iframe[title^="Preview of"]');
const preview = (page) => page.getByRole('button', { name: 'Preview' });

async function say(ui, answer, count = 1) {
  provider ??= await startScriptedModel(suite);
  provider.says = answer;
  await ui.ask(`Make it ${count}.`);
  await ui.answered(count);
}

async function visit(t, options) {
  provider ??= await startScriptedModel(suite);
  return suite.visit(t, options);
}

/** What a page may not do the browser complains about; that is what it is there for. */
async function visitHostile(t, options) {
  provider ??= await startScriptedModel(suite);
  const { page, context, complaints } = await openPage(suite.browser, suite.tenon.url, {
    as: suite.tenon,
    ...options,
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

test('a page is previewed beside the chat, in each of its versions', deadline, async (t) => {
  const { page, context, ui } = await visit(t);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const first =
    '<!doctype html><h1>One</h1><script>const height = "!"; document.querySelector("h1").append(height)</script>';
  await say(ui, `Here:\n\n${fenced('html shop.html', first)}\n\n${fenced('html', '<p>other</p>')}`);
  assert.equal(await page.locator('iframe').count(), 0, 'nothing runs before it is asked for');
  await preview(page).first().focus();
  await page.keyboard.press('Enter');
  await inside(page).getByRole('heading', { name: 'One!' }).waitFor();
  assert.equal(await panel(page).getByRole('heading').first().innerText(), 'shop.html');
  assert.equal(
    await panel(page)
      .getByRole('group', { name: /^Version/ })
      .count(),
    0,
  );
  const [chat, beside] = [
    await page.locator('main').boundingBox(),
    await panel(page).boundingBox(),
  ];
  assert.ok(chat.x + chat.width <= beside.x + 1 && chat.width > 400, 'the chat stays beside it');
  assert.deepEqual(await findingsInBothSchemes(page, 'the preview'), []);

  // The next one of that name is its next version, and is shown.
  await say(ui, fenced('html shop.html', first.replace('One', 'Two')), 2);
  await inside(page).getByRole('heading', { name: 'Two!' }).waitFor();
  await panel(page).getByRole('group', { name: 'Version 2 of 2' }).waitFor();
  await panel(page).getByRole('button', { name: 'Previous version' }).click();
  await inside(page).getByRole('heading', { name: 'One!' }).waitFor();

  await panel(page).getByText('Code', { exact: true }).click();
  await panel(page).locator('pre').getByText('<h1>').waitFor();
  assert.deepEqual(await findingsInBothSchemes(page, 'its code'), []);
  assert.equal(await page.locator('iframe[title^="Preview of"]').count(), 0);
  await panel(page).getByRole('button', { name: 'Copy' }).first().click();
  await panel(page).getByRole('button', { name: 'Copied' }).first().waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), first);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    panel(page).getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'shop.html');
  const saved = join(await mkdtemp(join(tmpdir(), 'tenon-e2e-')), 'shop.html');
  await download.saveAs(saved);
  assert.equal(await readFile(saved, 'utf8'), first);
  await rm(dirname(saved), { recursive: true });

  // Esc closes it, and the focus is where it came from.
  await page.keyboard.press('Escape');
  await panel(page).waitFor({ state: 'detached' });
  assert.ok(
    await preview(page)
      .first()
      .evaluate((button) => button === document.activeElement),
  );
});

// The shell without windows gives no frame a process of its own; browsers that people use do.
test('a preview that never rests leaves the page around it alone', deadline, async (t) => {
  provider ??= await startScriptedModel(suite);
  const browser = await openBrowser(['--site-per-process']);
  t.after(() => browser.close());
  const { page } = await openPage(browser, suite.tenon.url, { as: suite.tenon });
  await say(
    screen(page),
    fenced('html', '<h1>Busy</h1><script>onclick = () => { for (;;); }</script>'),
  );
  await preview(page).click();
  const heading = inside(page).getByRole('heading', { name: 'Busy' });
  await heading.waitFor();
  // Nobody answers the click: the frame is busy for ever from here on.
  await assert.rejects(heading.click({ timeout: 2_000 }), /Timeout/);
  await panel(page).getByRole('button', { name: 'Close' }).click();
  await panel(page).waitFor({ state: 'detached' });
});

test('a picture is previewed over the whole screen of a phone', deadline, async (t) => {
  const { page, ui } = await visit(t, { viewport: phone, colorScheme: 'dark' });
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4"/></svg>';
  await say(ui, fenced('svg', svg));
  await preview(page).click();
  const dialog = page.getByRole('dialog', { name: 'Artifact: SVG image' });
  await inside(page).locator('circle').waitFor();
  const { width, height } = await dialog.boundingBox();
  assert.deepEqual([width, height], [phone.width, phone.height]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.ok(await preview(page).evaluate((button) => button === document.activeElement));
});

test('what is previewed reaches neither Tenon nor anything else', deadline, async (t) => {
  const { page, ui } = await visitHostile(t);
  const arrived = await outside(t);
  const prisoner = await readFile(
    new URL('../../tests/peers/openapi/pages/prisoner.html', import.meta.url),
    'utf8',
  );
  await say(ui, fenced('html', prisoner.replaceAll('PORT', String(arrived.port))));
  await preview(page).click();
  await inside(page).getByText('still here').waitFor();
  const tried = JSON.parse(await inside(page).locator('#tried').innerText());
  for (const what of ['the page around it', 'leading it away', 'cookies', 'storage'])
    assert.equal(tried[what], 'SecurityError', what);
  for (const what of ['the API', 'another server']) assert.equal(tried[what], 'TypeError', what);
  assert.equal(tried.origin, 'null');
  assert.equal(arrived.count, 0);
  assert.equal(await page.locator('iframe').getAttribute('sandbox'), 'allow-scripts');

  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>
      let got = 'nothing';
      try { got = parent.document.title } catch (error) { got = error.name }
      document.documentElement.dataset.got = got;
    </script><image href="http://127.0.0.1:${arrived.port}/a.png"/><text>drawn</text></svg>`;
  await say(ui, fenced('svg', svg), 2);
  await preview(page).last().click();
  await inside(page).locator('text').waitFor();
  assert.equal(await inside(page).locator('html').getAttribute('data-got'), 'SecurityError');
  assert.equal(arrived.count, 0);
});

test('diagrams are drawn as pictures in the colours of the page', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await say(
    ui,
    fenced('mermaid', 'flowchart LR\n  A[Start here] --> B{Choose}\n  B -->|yes| C[Done]'),
  );
  const picture = ui.answers.first().getByRole('img', { name: 'Diagram' });
  await picture.waitFor();
  const address = await picture.getAttribute('src');
  assert.ok(address.startsWith('data:image/svg+xml'), address.slice(0, 40));
  const source = decodeURIComponent(address);
  for (const word of ['Start', 'Choose', 'Done']) assert.ok(source.includes(word), word);
  assert.ok(await picture.evaluate((img) => img.naturalWidth > 100 && img.complete));

  await page.emulateMedia({ colorScheme: 'dark' });
  await eventually('other colours', async () => (await picture.getAttribute('src')) !== address);

  assert.deepEqual(await findingsInBothSchemes(page, 'a diagram'), []);
  await ui.answers.first().getByRole('button', { name: 'Source' }).click();
  await ui.answers.first().locator('pre').getByText('Start here').waitFor();
  await ui.answers.first().getByRole('button', { name: 'Diagram' }).click();
  await picture.waitFor();
});

test('a broken diagram shows its source and what is wrong', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await say(ui, fenced('mermaid', 'flowchart LR\n  A --> --> B'));
  await page.getByText('This diagram has a mistake in its source').waitFor();
  await page.getByText(/Parse error on line 2/).waitFor();
  await ui.answers.first().locator('pre code').getByText('A --> --> B').waitFor();
  // The next one is drawn all the same.
  await say(ui, fenced('mermaid', 'sequenceDiagram\n  Alice->>Bob: Hi'), 2);
  await page.getByRole('img', { name: 'Diagram' }).waitFor();
});

test('a hostile diagram is a picture at most', deadline, async (t) => {
  const { page, ui } = await visitHostile(t);
  const arrived = await outside(t);
  const host = `http://127.0.0.1:${arrived.port}`;
  const diagrams = [
    `%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%\nflowchart LR\n  A["<img src='${host}/a.png' onerror='parent.hacked = 1; fetch(\\"${host}\\")'>"] --> B\n  click B href "javascript:alert(1)"`,
    `flowchart LR\n  A["<script>parent.postMessage({type:'diagram',id:1,svg:'x'},'*')</script>"]\n  click A call alert("hi")`,
    `%%{init: {"themeCSS": "* { background: url(${host}/css) } @import '${host}/import';"}}%%\nflowchart LR\n  A --> B`,
  ];
  await say(ui, diagrams.map((text) => fenced('mermaid', text)).join('\n\n'));
  const settled = async () =>
    (await page.getByRole('img', { name: 'Diagram' }).count()) +
      (await page.getByText(/^This diagram /).count()) ===
    diagrams.length;
  await eventually('all are drawn or refused', settled, 30_000);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(arrived.count, 0);
  // The page itself holds nothing of them but pictures.
  assert.equal(await page.locator('.answer svg [href], .answer script').count(), 0);
});
