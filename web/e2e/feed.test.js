// Tabs and devices of one person show the same, and ask the server for nothing meanwhile.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { fixture } from './fixture.js';
import { eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
const toolId = 'builtin_current_time';

afterEach(async () => {
  const tools = [{ toolId, enabled: null, policy: null }];
  await suite.tell('PATCH', '/tools', { layer: 'user', tools });
  await suite.tenon.cancelTurns();
});

const rowOf = (page, id) =>
  page.getByRole('listitem').filter({ has: page.locator(`[href$="${id}"]`) });

/** A page that has loaded its lists, and what it asks the server for from then on. */
async function settled(t, options) {
  const visit = await suite.visit(t, options);
  const { id } = await suite.tell('POST', '/chats', { title: 'The first' });
  await rowOf(visit.page, id).waitFor();
  await visit.page.waitForLoadState('networkidle');
  const asked = [];
  visit.page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) asked.push(`${request.method()} ${pathname}`);
  });
  return { ...visit, asked };
}

test(
  'a chat is the same in two tabs and on another device, without a request',
  deadline,
  async (t) => {
    const one = await settled(t);
    const tab = await one.context.newPage();
    await tab.goto(suite.tenon.url);
    // A tab in the background paints too seldom to be clicked in.
    await one.page.bringToFront();
    const device = await settled(t);
    const others = [tab, device.page];
    const chat = await suite.tell('POST', '/chats', { title: 'Tides' });
    const row = rowOf(one.page, chat.id);
    await row.waitFor();
    device.asked.length = 0;

    // Renamed, put away, taken out, deleted and restored in one of them.
    const choose = async (name) => {
      await row.hover();
      await row.getByRole('button').click();
      await one.page.getByRole('menuitem', { name, exact: true }).click();
    };
    await choose('Rename');
    await one.page.getByRole('textbox', { name: 'Chat name' }).fill('Tides of today');
    await one.page.keyboard.press('Enter');
    for (const page of others) await rowOf(page, chat.id).getByText('Tides of today').waitFor();
    await choose('Archive');
    for (const page of others) await rowOf(page, chat.id).waitFor({ state: 'detached' });
    await one.page.getByRole('button', { name: 'Undo' }).first().click();
    for (const page of others) await rowOf(page, chat.id).waitFor();
    await choose('Delete');
    const question = one.page.getByRole('dialog', { name: /^Delete/ });
    await question.getByRole('button', { name: 'Delete' }).click();
    for (const page of others) await rowOf(page, chat.id).waitFor({ state: 'detached' });
    await one.page.getByRole('button', { name: 'Undo' }).first().click();
    for (const page of others) await rowOf(page, chat.id).waitFor();
    assert.deepEqual(device.asked, []);
  },
);

test(
  'a question that waits elsewhere is marked and goes when it is answered',
  deadline,
  async (t) => {
    await suite.tell('PATCH', '/tools', { layer: 'user', tools: [{ toolId, policy: 'ask' }] });
    const { page, asked } = await settled(t);
    const { id } = await suite.tell('POST', '/chats', {});
    await suite.tell('POST', `/chats/${id}/turns`, { text: 'What time is it in Tokyo?' });
    const mark = rowOf(page, id).getByText('Waiting for your answer');
    await mark.waitFor({ state: 'attached' });
    await page.getByText(/“What time is it in Tokyo\?” is waiting/).waitFor();
    assert.match(await page.title(), /^\(1\) /);
    asked.length = 0;
    const messages = await suite.tell('GET', `/chats/${id}/messages`);
    await suite.tell('POST', `/calls/${messages[1].toolCalls[0].id}/answer`, { verdict: 'once' });
    await mark.waitFor({ state: 'detached' });
    await eventually('nothing waits', async () => !/^\(1\)/.test(await page.title()));
    assert.deepEqual(asked, []);
  },
);

test(
  'a tool that is switched off and a model that is added show on another device',
  deadline,
  async (t) => {
    const { page, asked } = await settled(t);
    const wrench = page.getByRole('button', { name: /^Tools:/ });
    const count = async () => Number(await wrench.innerText());
    const before = await count();
    asked.length = 0;
    await suite.tell('PATCH', '/tools', { layer: 'user', tools: [{ toolId, enabled: false }] });
    await eventually('one less', async () => (await count()) === before - 1);
    // And what the model gets of them now.
    const read = asked.filter((path) => path !== 'POST /api/context');
    assert.deepEqual(read, ['GET /api/tools']);

    asked.length = 0;
    const model = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'tide-1' };
    const { id } = await suite.tell('POST', '/models', { ...model, isDefault: true });
    await page.getByRole('button', { name: /tide-1/ }).waitFor();
    await suite.tell('DELETE', `/models/${id}`);
    await page.getByRole('button', { name: /Built-in assistant/ }).waitFor();
    assert.ok(
      asked.every((path) => /models|endpoints|info|context/.test(path)),
      asked.join(),
    );
  },
);

/** Resolves in the frame in which an element has the text: a locator polls at longer intervals. */
const showsText = (page, selector, text) =>
  page.evaluate(
    ([selector, text]) =>
      new Promise((resolve) => {
        const look = () => {
          const all = [...document.querySelectorAll(selector)];
          if (all.some((element) => element.innerText.trim() === text)) resolve();
          else requestAnimationFrame(look);
        };
        look();
      }),
    [selector, text],
  );

test('twenty changes show in another tab', deadline, async (t) => {
  const { page } = await settled(t);
  const { id } = await suite.tell('POST', '/chats', { title: 'Tides' });
  await rowOf(page, id).waitFor();
  const on = Number(await page.getByRole('button', { name: /^Tools:/ }).innerText());
  const model = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', isDefault: true };
  const models = [];
  t.after(async () => {
    for (const id of models) await suite.tell('DELETE', `/models/${id}`);
  });
  const rename = async (count) => {
    await suite.tell('PATCH', `/chats/${id}`, { title: `Tides ${count}` });
    return [`[href$="${id}"]`, `Tides ${count}`];
  };
  const switchTool = async (enabled) => {
    await suite.tell('PATCH', '/tools', { layer: 'user', tools: [{ toolId, enabled }] });
    return ['[aria-label^="Tools:"]', String(enabled ? on : on - 1)];
  };
  const addModel = async (count) => {
    const { id } = await suite.tell('POST', '/models', { ...model, model: `tide-${count}` });
    models.push(id);
    return ['header button', `tide-${count}`];
  };
  const delays = [];
  const measure = async (write) => {
    const shown = await write;
    const writtenAt = performance.now();
    await showsText(page, ...shown);
    delays.push(Math.round(performance.now() - writtenAt));
  };
  for (let count = 1; count <= 5; count++) {
    await measure(rename(count));
    await measure(switchTool(false));
    await measure(addModel(count));
    await measure(switchTool(true));
  }
  assert.equal(delays.length, 20);
  t.diagnostic(`shown after ${delays.toSorted((a, b) => a - b).join(', ')} ms`);
});

test('a chat that is restored is back in the tab that shows it as deleted', deadline, async (t) => {
  const { page } = await settled(t);
  const { id } = await suite.tell('POST', '/chats', { title: 'Tides' });
  await suite.tell('POST', `/chats/${id}/turns`, { text: 'What time is it in Tokyo?' });
  await rowOf(page, id).getByRole('link').click();
  const question = page.locator('main').getByText('What time is it in Tokyo?', { exact: true });
  await question.waitFor();
  await suite.tell('DELETE', `/chats/${id}`);
  await question.waitFor({ state: 'detached' });
  await suite.tell('POST', `/chats/${id}/restore`);
  await question.waitFor();
});

test('what happened while a page was cut off is there when it is back', deadline, async (t) => {
  const { page } = await settled(t);
  const sockets = [];
  let away = false;
  await page.routeWebSocket('**/api/ws', (socket) => {
    if (away) return void socket.close();
    sockets.push(socket);
    socket.connectToServer();
  });
  await page.reload();
  const { id } = await suite.tell('POST', '/chats', { title: 'Before' });
  await rowOf(page, id).getByText('Before').waitFor();
  away = true;
  await sockets.at(-1).close({ code: 1012, reason: 'cut by the test' });
  await page
    .getByText(/reconnect|connection/i)
    .first()
    .waitFor();
  await suite.tell('PATCH', `/chats/${id}`, { title: 'Meanwhile' });
  const gone = await suite.tell('POST', '/chats', { title: 'Short-lived' });
  await suite.tell('DELETE', `/chats/${gone.id}`);
  away = false;
  await rowOf(page, id).getByText('Meanwhile').waitFor();
  assert.equal(await rowOf(page, gone.id).count(), 0);
});
