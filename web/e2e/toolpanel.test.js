// The panel of tools: all of them or those that are on, those on this computer among them,
// and what is said where one of these cannot be used.
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { startBigServer } from './bigServer.js';
import { phone } from './browser.js';
import { startCounter } from './counter.js';
import { fixture } from './fixture.js';
import { lookAt } from './local.js';
import { startScriptedModel } from './scriptedModel.js';
import { freePort, startClock, startFiles } from './peers.js';
import { allTools, eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
const toolId = 'builtin_current_time';
let model;

after(() => model?.stop());
afterEach(async () => {
  await suite.tell('PATCH', '/tools', { layer: 'user', tools: [{ toolId, enabled: null }] });
  for (const { id } of await suite.tell('GET', '/devices'))
    await suite.tell('DELETE', `/devices/${id}`);
});

/** An mcpo with two tools, for pages of this origin, until the test is over or it is stopped. */
async function startMcpo(t, port, origin) {
  const clock = await startClock(origin, port);
  t.after(clock.stop);
  return clock;
}

function panelOf(page) {
  const panel = page.getByRole('dialog', { name: 'Tools' });
  const wrench = page.locator('form button[aria-label^="Tools:"]');
  return {
    panel,
    wrench,
    plus: allTools(page),
    row: panel.locator(`li[title=${toolId}]`),
    view: (name) => panel.getByRole('radio', { name, exact: true }),
    here: panel.getByRole('group', { name: 'On this computer' }),
    count: async () => Number(await wrench.innerText()),
    counts: (expected) =>
      eventually(`${expected} are on`, async () => Number(await wrench.innerText()) === expected),
    /** Until it is kept, which is later than it is shown. */
    async flip(row) {
      const kept = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await row.getByRole('switch').click();
      await kept;
    },
    /** Adds an address as a person does. */
    async add(address) {
      await panel.getByRole('button', { name: 'Add an address' }).click();
      const form = panel.getByRole('form', { name: 'Add an address' });
      await form.getByLabel('Address or port').fill(String(address));
      await form.getByRole('button', { name: 'Add', exact: true }).click();
    },
    group: (name) =>
      panel.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) }),
  };
}

const isOn = ({ enabled, policy }) => enabled && policy !== 'deny';

/** Somebody who comes, once it is known how many tools there are. */
async function come(t, options) {
  const visit = await suite.visit(t, options);
  const tools = panelOf(visit.page);
  // Ten thousand of them take a while.
  await eventually('tools are counted', async () => (await tools.count()) > 0, 30_000);
  return { ...visit, tools, count: await tools.count() };
}

/** Browsers complain of what is asked of a server that does not let them in. */
function forgiveCors(complaints) {
  const others = complaints.filter((one) => !/CORS policy|net::ERR_/.test(one));
  complaints.splice(0, complaints.length, ...others);
}

test('the plus shows all tools and the wrench those that are on', deadline, async (t) => {
  const { page, tools, count } = await come(t);
  await tools.plus.click();
  await tools.row.waitFor();
  assert.ok(await tools.view('All').isChecked());
  assert.equal(await tools.row.getAttribute('title'), toolId);
  await tools.flip(tools.row);
  await tools.counts(count - 1);

  // It goes from the other view, and stays in this one.
  await tools.view('On').check();
  await tools.row.waitFor({ state: 'detached' });
  await tools.view('All').check();
  await tools.row.waitFor();
  await page.keyboard.press('Escape');

  await page.reload();
  await tools.counts(count - 1);
  await tools.wrench.click();
  // What is on is no reason to hide this computer.
  await tools.here.waitFor();
  await tools.panel.locator('li[title]').first().waitFor();
  assert.ok(await tools.view('On').isChecked());
  assert.equal(await tools.row.count(), 0);
  const known = await suite.tell('GET', '/tools');
  // Of a long list only what is near is drawn.
  const on = new Set(known.filter(isOn).map(({ toolId }) => toolId));
  const drawn = await tools.panel
    .locator('li[title]')
    .evaluateAll((rows) => rows.map((row) => row.title));
  assert.ok(drawn.length > 0 && drawn.every((toolId) => on.has(toolId)), drawn.join());
  await tools.view('All').check();
  assert.equal(await tools.row.getByRole('switch').getAttribute('aria-checked'), 'false');

  // One that is switched off here stays under the hand.
  await tools.flip(tools.row);
  await tools.counts(count);
  await tools.view('On').check();
  await tools.flip(tools.row);
  await tools.counts(count - 1);
  assert.equal(await tools.row.count(), 1);
});

test('nothing at the usual address is told of quietly', deadline, async (t) => {
  const { tools } = await come(t);
  await tools.plus.click();
  await tools.here.getByText('No tool server on this computer yet').waitFor();
  await tools.here.getByRole('button', { name: 'How to start one' }).click();
  const origin = new URL(suite.tenon.url).origin;
  await tools.here.getByText(`--port 8000 --cors-allow-origins "${origin}"`).waitFor();
  assert.equal(await tools.here.getByText('How to fix').count(), 0);
});

test('a server that is started appears with its tag, switched on', deadline, async (t) => {
  const port = await freePort();
  const { page, ui, tools, count, complaints } = await come(t);
  await tools.plus.click();
  await tools.add(port);
  await tools.here.getByText('Nothing usable answers').waitFor();

  await startMcpo(t, port, suite.tenon.url);
  await tools.here.getByRole('button', { name: 'Try again' }).click();
  const group = tools.group('mcp-time');
  await group.getByText('Local (MCPO)').waitFor();
  await tools.here.getByText('mcpo · 2 tools').waitFor();
  await tools.counts(count + 2);
  const id = await group.locator('li').first().getAttribute('title');
  assert.match(id, /^local_/);

  await tools.flip(group.locator('li').first());
  await tools.counts(count + 1);
  await page.reload();
  await tools.counts(count + 1);
  await tools.plus.click();
  await tools.flip(group.locator('li').first());
  await tools.counts(count + 2);
  await page.keyboard.press('Escape');

  // A call says where it ran.
  model ??= await startScriptedModel(suite);
  await page.reload();
  await tools.counts(count + 2);
  const [{ toolId: called }] = (await suite.tell('GET', '/tools')).filter(
    ({ source, toolName }) => source.local && /current_time/.test(toolName),
  );
  await suite.tell('PATCH', '/tools', {
    layer: 'user',
    tools: [{ toolId: called, policy: 'allow' }],
  });
  await ui.ask(`Call ${called} {"timezone": "Asia/Tokyo"}`);
  await ui.answered();
  const card = ui.cards.first();
  await card.getByText('Local (MCPO)').waitFor();
  await card.getByRole('button').first().click();
  await card
    .getByText(`On your own computer: Linux computer calls http://localhost:${port}`)
    .waitFor();
  forgiveCors(complaints);
});

test(
  'a server that keeps the page out comes with the line that lets it in',
  deadline,
  async (t) => {
    const port = await freePort();
    const before = await startMcpo(t, port, 'https://elsewhere.example');
    const { page, tools, count, complaints } = await come(t);
    await tools.plus.click();
    await tools.add(`localhost:${port}`);
    await tools.here
      .getByText(
        `A server answers at localhost:${port}, but does not let this site read it (CORS).`,
      )
      .waitFor();
    const option = `--cors-allow-origins "${suite.tenon.url}"`;
    await tools.here.getByText(option, { exact: true }).waitFor();
    await tools.here.getByRole('radio', { name: 'FastMCP' }).check();
    await tools.here.getByText(`allow_origins=["${suite.tenon.url}"]`).waitFor();
    await tools.here.getByText(`port=${port}`).waitFor();
    await tools.here.getByRole('radio', { name: 'Express' }).check();
    await tools.here.getByText(`origin: '${suite.tenon.url}'`).waitFor();

    await before.stop();
    await startMcpo(t, port, suite.tenon.url);
    await tools.here.getByRole('button', { name: 'Try again' }).click();
    await tools.group('mcp-time').getByText('Local (MCPO)').waitFor();
    await tools.here.getByText('does not let this site read it').waitFor({ state: 'detached' });
    await tools.counts(count + 2);

    // It goes when it is removed, after a question.
    await tools.here.getByRole('button', { name: `Options for localhost:${port}` }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await tools.here.getByRole('group', { name: 'Remove' }).getByRole('button').first().click();
    await tools.counts(count);
    forgiveCors(complaints);
  },
);

test('any web server is told of as one that keeps pages out', deadline, async (t) => {
  const port = await freePort();
  t.after((await startFiles(port)).stop);
  const { tools, complaints } = await come(t);
  await tools.plus.click();
  await tools.panel.getByRole('button', { name: 'Scan more ports' }).click();
  const scan = tools.panel.getByRole('form', { name: 'Scan more ports' });
  await scan.getByLabel('Ports of this computer').fill(`${port}, ${await freePort()}`);
  await scan.getByRole('button', { name: 'Scan' }).click();
  const line = scan.getByRole('button', { name: `localhost:${port} · CORS How to fix` });
  await line.click();
  await scan.getByText(/does not let this site read it/).waitFor();
  await scan.getByText('One answers:').waitFor();
  forgiveCors(complaints);
});

test('tools of a browser that is away stay, and can be forgotten', deadline, async (t) => {
  const port = await freePort();
  await startMcpo(t, port, suite.tenon.url);
  const away = await come(t);
  await away.tools.plus.click();
  await away.tools.add(port);
  await away.tools.group('mcp-time').getByText('Local (MCPO)').waitFor();
  forgiveCors(away.complaints);
  await away.page.close();

  const { tools } = await come(t);
  await tools.plus.click();
  const group = tools.group('mcp-time');
  await group.getByText('Offline · Linux computer').waitFor({ timeout: 30_000 });
  await tools.counts(away.count);
  await group.getByRole('button', { name: 'Forget the tools of this computer' }).click();
  await group.getByRole('group', { name: 'Forget' }).getByRole('button').first().click();
  await group.waitFor({ state: 'detached' });
});

test('one server by three spellings has its tools once', deadline, async (t) => {
  const counter = await startCounter();
  t.after(() => counter.stop());
  const { port } = new URL(counter.url);
  const { page, tools, count, complaints } = await come(t);
  await tools.plus.click();
  await tools.add(port);
  await tools.here.getByText('OpenAPI · 1 tool').waitFor();
  await tools.counts(count + 1);

  // The same address is refused at the field, the same server behind another one is told of.
  await tools.add(`127.0.0.1:${port}/`);
  const form = tools.panel.getByRole('form', { name: 'Add an address' });
  await form.getByText('This address is in the list already.').waitFor();
  await form.getByRole('button', { name: 'Cancel' }).click();
  await tools.add(`http://127.0.0.1:${port}/openapi.json`);
  await tools.here.getByText(/is the same server as localhost:\d+, which is in the list/).waitFor();
  await page.reload();
  await tools.counts(count + 1);
  await tools.plus.click();
  await tools.group('counter').waitFor();
  assert.equal(await tools.group('counter').count(), 1);
  await tools.here.getByRole('switch', { name: `Use localhost:${port}` }).waitFor();
  assert.equal(await tools.here.getByRole('switch').count(), 2, 'the usual address, and this one');
  forgiveCors(complaints);
});

test(
  'a server that dies is missed, not forgotten, and told of as when it is back',
  deadline,
  async (t) => {
    const counter = await startCounter();
    t.after(() => counter.stop());
    const { page, tools, complaints } = await come(t, lookAt(counter.url));
    await tools.plus.click();
    await tools.here.getByText('OpenAPI · 1 tool').waitFor();
    await page.keyboard.press('Escape');
    counter.stop();
    // Who comes back to the page has it looked at again.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('counter stopped on this computer.').waitFor();
    await tools.plus.click();
    await tools.here.getByText('1 tool when last seen').waitFor();
    await tools.panel.getByRole('button', { name: /On this computer.*1 problem/ }).waitFor();
    assert.equal(await tools.panel.getByText('No tool server on this computer yet').count(), 0);
    await tools
      .group('counter')
      .getByText(/^Not available: Nothing was found at/)
      .waitFor();
    await page.keyboard.press('Escape');

    // It is told of when it is back, too.
    const again = await startCounter(Number(new URL(counter.url).port));
    t.after(() => again.stop());
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('counter is running on this computer. Its tools can be used.').waitFor();
    await tools.plus.click();
    await tools.here.getByText('OpenAPI · 1 tool').waitFor();
    forgiveCors(complaints);
  },
);

test(
  'a source is switched and allowed as a whole, and says when it is mixed',
  deadline,
  async (t) => {
    const { page, tools, count } = await come(t);
    await tools.plus.click();
    await tools.row.waitFor();
    const row = page.locator(`li[title=${toolId}]`);
    const group = tools.panel.locator('section').filter({ has: row });
    const all = group.getByRole('checkbox', { name: /^Use all of/ });
    assert.equal(await all.getAttribute('aria-checked'), 'true');
    await tools.flip(tools.row);
    await tools.counts(count - 1);
    assert.equal(await all.getAttribute('aria-checked'), 'mixed');
    await all.click();
    await tools.counts(count);
    assert.equal(await all.getAttribute('aria-checked'), 'true');

    // What a source may do is said once for all of its tools.
    const ask = async (name) => {
      const kept = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await group.getByRole('button', { name: /^All tools of/ }).click();
      await page.getByRole('menuitemradio', { name }).click();
      await kept;
    };
    await ask('Ask me each time');
    const ofSource = async () => {
      const known = await suite.tell('GET', '/tools');
      const { source } = known.find((tool) => tool.toolId === toolId);
      return known.filter((tool) => tool.source.id === source.id);
    };
    await eventually('all ask', async () =>
      (await ofSource()).every(({ policy }) => policy === 'ask'),
    );
    await group.getByRole('button', { name: /^All tools of .*: ask$/ }).click();
    await page.getByRole('menuitem', { name: 'Back to the default' }).click();
    await eventually('none was set', async () =>
      (await ofSource()).every(({ policyBy }) => policyBy === undefined),
    );

    // A source stays collapsed.
    await group.getByRole('heading', { level: 3 }).getByRole('button').click();
    await tools.row.waitFor({ state: 'detached' });
    await page.reload();
    await tools.plus.click();
    await group.waitFor({ state: 'detached' });
    await tools.panel.getByRole('heading', { level: 3 }).nth(1).waitFor();
    assert.equal(await tools.row.count(), 0);
    await tools.panel.getByRole('searchbox').fill('current time');
    await tools.row.waitFor();
  },
);

test('ten thousand tools are listed and filtered at once', { timeout: 120_000 }, async (t) => {
  const big = await startBigServer(10_000);
  t.after(() => big.stop());
  const added = await suite.tell('POST', '/sources', {
    kind: 'openapi',
    name: 'big',
    title: 'Big',
    url: `${big.url}/openapi.json`,
  });
  t.after(() => suite.tell('DELETE', `/sources/${added.id}`));
  await eventually(
    'its tools',
    async () => {
      const { tools } = await suite.tell('GET', `/sources/${added.id}`);
      return tools === big.count;
    },
    60_000,
  );
  const { page, tools } = await come(t);
  await eventually('all are counted', async () => (await tools.count()) >= big.count, 30_000);
  await tools.plus.click();
  const group = tools.group('Big');
  await group.getByText(`${big.count} tools`).waitFor();
  // A long list begins collapsed; opened, only what is seen is drawn.
  assert.equal(await group.getByRole('listitem').count(), 0);
  await group.getByRole('heading', { level: 3 }).getByRole('button').click();
  await group.getByRole('listitem').first().waitFor();
  const drawn = await group.getByRole('listitem').count();
  assert.ok(drawn < 200, `${drawn} rows are drawn`);

  const slowest = await page.evaluate(async () => {
    const field = document.querySelector('dialog input[type=search]');
    const typed = ['o', 'op', 'operation 9', 'operation 99', 'operation 999', 'zzz', ''];
    const times = new Map(typed.map((text) => [text, []]));
    // What other programs take of the machine meanwhile is not the page's.
    for (let round = 0; round < 5; round++) {
      for (const text of typed) {
        const began = performance.now();
        field.value = text;
        field.dispatchEvent(new Event('input', { bubbles: true }));
        // The page is up to date before the browser paints.
        await Promise.resolve();
        document.body.getBoundingClientRect();
        times.get(text).push(performance.now() - began);
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      }
    }
    return Math.max(...[...times.values()].map((all) => Math.min(...all)));
  });
  t.diagnostic(`a keystroke takes ${slowest.toFixed(1)} ms`);

  await tools.panel.getByRole('searchbox').fill('operation_9999');
  await group.locator('li[title$=operation_9999]').waitFor();
  assert.equal(await group.getByRole('listitem').count(), 1);
});

test(
  'another browser says which computer it is on, and adds no tools of its own',
  deadline,
  async (t) => {
    const counter = await startCounter();
    t.after(() => counter.stop());
    const { port } = new URL(counter.url);
    const first = await come(t);
    await first.tools.plus.click();
    await first.tools.add(port);
    await first.tools.here.getByText('OpenAPI · 1 tool').waitFor();
    const named = first.tools.here.getByText('This computer is called “Linux computer”.');
    await named.waitFor();
    await first.tools.here.getByRole('button', { name: 'Change' }).click();
    const rename = first.tools.here.getByRole('form', { name: 'Which computer is this?' });
    await rename.getByLabel('Name of this computer').fill('Workshop');
    await rename.getByRole('button', { name: 'Save' }).click();
    await first.page.reload();
    await eventually('it has its name', async () =>
      (await suite.tell('GET', '/devices')).some(({ name }) => name === 'Workshop'),
    );

    const second = await come(t);
    await second.tools.plus.click();
    await second.tools.add(port);
    const form = second.tools.here.getByRole('form', { name: 'Which computer is this?' });
    await form.getByRole('button', { name: 'Workshop' }).click();
    await second.tools.here.getByText('This computer is called “Workshop”.').waitFor();
    await second.tools.group('counter').waitFor();
    const tools = await suite.tell('GET', '/tools');
    assert.equal(tools.filter(({ source }) => source.local).length, 1);
    assert.equal((await suite.tell('GET', '/devices')).length, 1);
    forgiveCors(first.complaints);
    forgiveCors(second.complaints);
  },
);

test('the badge and the panel say what the model gets, and why not all', deadline, async (t) => {
  const { page, tools, count } = await come(t);
  await tools.plus.click();
  const offer = tools.panel.getByRole('button', { name: /gets \d+ tools/ });
  await offer.waitFor();
  const { toolTokens } = await suite.tell('POST', '/context', {});
  const tokens = toolTokens.toLocaleString('en');
  await tools.panel.getByText(`gets ${count} tools · about ${tokens} tokens per message`).waitFor();
  await tools.flip(tools.row);
  await tools.counts(count - 1);
  await offer.click();
  await tools.panel.getByText('1 switched off or never allowed').waitFor();
  await tools.panel.getByText(/\d+ of them only when they are needed/).waitFor();
  await page.keyboard.press('Escape');

  // A model that is set to get none gets none, and says so.
  const provider = await startScriptedModel(suite);
  t.after(() => provider.stop());
  const models = await suite.tell('GET', '/models');
  const { id } = models.find(({ isDefault }) => isDefault);
  t.after(() => suite.tell('DELETE', `/models/${id}`));
  await suite.tell('PATCH', `/models/${id}`, { toolMode: 'none' });
  await page.reload();
  await tools.counts(0);
  await tools.plus.click();
  await tools.panel.getByRole('button', { name: /gets no tools/ }).click();
  await tools.panel.getByText('The model is set to get no tools.').waitFor();
});

test('the panel fits a phone and its fingers', deadline, async (t) => {
  const { tools } = await come(t, { viewport: phone, hasTouch: true });
  await tools.plus.tap();
  await tools.here.getByRole('button', { name: 'How to start one' }).tap();
  await tools.panel.getByRole('button', { name: 'Add an address' }).tap();
  const wrong = await tools.panel.evaluate((panel) => {
    const isShown = (element) => element.checkVisibility() && !element.closest('[popover]');
    const small = [...panel.querySelectorAll('button, select, label:has(> input[type=radio])')]
      .filter(isShown)
      .filter((element) => element.getBoundingClientRect().height < 44)
      .map((element) => element.outerHTML.slice(0, 120));
    const wide = [...panel.querySelectorAll('*')]
      .filter(isShown)
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => element.outerHTML.slice(0, 120));
    return { small, wide };
  });
  assert.deepEqual(wrong, { small: [], wide: [] });
});
