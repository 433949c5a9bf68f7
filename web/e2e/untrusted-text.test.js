// Text that wants to be code stays text, from the user, the model and the tools.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { conversation, showConversation } from './forgedChat.js';

const { visit } = fixture();
const deadline = { timeout: 60_000 };

const hostile = [
  '<script>window.owned = 1</script>',
  '<img src=x onerror="window.owned = 1">',
  '<svg onload="window.owned = 1"></svg>',
  '[click](javascript:window.owned=1)',
  '![pixel](https://evil.example/pixel.png)',
  '<iframe src="javascript:parent.owned=1"></iframe>',
].join('\n\n');

async function inert(page, requests, within = '.column') {
  assert.equal(await page.evaluate(() => window.owned), undefined);
  assert.equal(
    await page
      .locator(within)
      .locator('script, iframe, svg[onload], [onerror], [href^="javascript:" i]')
      .count(),
    0,
  );
  assert.deepEqual(
    requests.filter((url) => url.includes('evil.example')),
    [],
  );
}

test('hostile Markdown of a user is shown as it was written', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await ui.ask(hostile);
  await ui.answered();
  assert.equal(await ui.questions.first().locator('p').innerText(), hostile);
  await inert(page, requests);
});

test('hostile input and output of a tool are shown as text', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  const content = '<img src=x onerror=owned=1>';
  // The built-in assistant makes exactly the call that a message spells out.
  await ui.ask(`builtin_write_file ${JSON.stringify({ path: 'a.md', content })}`);
  await ui.answered();
  await ui.ask(`builtin_read_file ${JSON.stringify({ path: 'a.md' })}`);
  await ui.answered(2);
  const [write, read, ...others] = await ui.cards.all();
  assert.equal(others.length, 0);
  for (const card of [write, read]) {
    assert.equal(await card.getAttribute('data-status'), 'done');
    await card.getByRole('button').first().click();
  }
  const shown = (card, name) => card.getByRole('region', { name }).first().innerText();
  assert.ok((await shown(write, 'Input')).includes(content));
  assert.ok((await shown(read, 'Output')).includes(content));
  await inert(page, requests);
});

test('hostile events of a server cannot run either', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  // Only the wire is forged: the page gets an answer and an output no honest tool would give.
  await page.routeWebSocket('**/api/ws', (socket) => {
    socket.onMessage((message) => {
      const { type, chatId } = JSON.parse(message);
      if (type === 'subscribe')
        for (const frame of forged(chatId)) socket.send(JSON.stringify(frame));
    });
  });
  await page.goto(`${new URL(page.url()).origin}/#/c/forged`);
  await page.reload();
  await ui.cards.first().getByRole('button').first().click();
  assert.match(await ui.answers.first().innerText(), /<script>window\.owned/);
  assert.match(await ui.cards.first().innerText(), /<script>window\.owned/);
  await inert(page, requests);
  const link = page.locator('.answer a').first();
  assert.equal(await link.getAttribute('href'), 'https://evil.example/pixel.png');
  assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
});

test(
  'hostile names of a tool and its server are text wherever it is named',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t);
    const { origin } = new URL(page.url());
    const requests = [];
    page.on('request', (request) => requests.push(request.url()));
    const name = `Quince <img src=https://evil.example/x onerror="window.owned = 1">`;
    await page.route(
      (url) => url.pathname === '/api/tools',
      async (route) => {
        const response = await route.fetch();
        const tools = response.ok() ? await response.json() : undefined;
        // A list that is as it was has no body, and one that is refused is none.
        if (!Array.isArray(tools)) return route.fulfill({ response });
        const [tool, ...others] = tools;
        const source = { ...tool.source, name, title: name };
        const texts = { displayName: `${name}/${name}`, toolName: name, title: name };
        const hostileTool = {
          ...tool,
          ...texts,
          toolId: 'api_evil_x',
          description: hostile,
          source,
        };
        await route.fulfill({ response, json: [hostileTool, ...others] });
      },
    );
    await page.reload();
    await ui.field.waitFor();

    await ui.field.pressSequentially('@quince');
    const menu = page.getByRole('listbox', { name: 'Tools and experts' });
    assert.ok((await menu.getByRole('option').first().innerText()).includes('<img src='));
    await inert(page, requests, 'main');
    await ui.field.press('Escape');

    await page.keyboard.press('Control+k');
    await page.keyboard.type('quince');
    const option = page
      .getByRole('dialog')
      .getByRole('option', { name: /<img src=/ })
      .first();
    await option.waitFor();
    await inert(page, requests, 'dialog');
    await page.keyboard.press('Escape');

    await page.keyboard.press('Alt+Shift+L');
    const panel = page.getByRole('dialog', { name: 'Tools' });
    await panel.getByText('<img src=').first().waitFor();
    await inert(page, requests, 'dialog');

    const show = await showConversation(page);
    const call = {
      displayName: `${name}/${name}`,
      toolId: 'api_evil_x',
      input: { [name]: hostile },
    };
    await show(origin, conversation({ ...call, asked: true }));
    const card = page.locator('.card[data-status=asking]');
    assert.ok((await card.innerText()).includes(name));
    await inert(page, requests);
  },
);

function forged(chatId) {
  const message = (id, role, parts) => ({ id, chatId, turnId: 't1', role, parts, createdAt: 0 });
  const call = { id: 'k1', toolId: 'builtin_echo', input: { text: hostile } };
  const bodies = [
    {
      type: 'turnStarted',
      turnId: 't1',
      message: message('m0', 'user', [{ type: 'text', text: 'Hi' }]),
    },
    { type: 'messageStarted', message: message('m1', 'assistant', []) },
    {
      type: 'messageFinished',
      messageId: 'm1',
      parts: [
        { type: 'text', text: hostile },
        { type: 'call', ...call },
      ],
    },
    {
      type: 'callRequested',
      call: { ...call, messageId: 'm1', displayName: hostile, runsOn: 'server', status: 'pending' },
    },
    { type: 'callStarted', callId: 'k1' },
    {
      type: 'callFinished',
      callId: 'k1',
      status: 'done',
      output: {
        content: [
          { type: 'text', text: hostile },
          {
            type: 'image',
            mediaType: 'image/svg+xml',
            data: btoa('<svg xmlns="http://www.w3.org/2000/svg" onload="parent.owned=1"/>'),
          },
        ],
      },
      durationMs: 1,
    },
    {
      type: 'turnFinished',
      turnId: 't1',
      outcome: { kind: 'done' },
      usage: { inputTokens: 0, outputTokens: 0 },
    },
  ];
  const events = bodies.map((body, index) => ({
    type: 'event',
    chatId,
    seq: index + 1,
    at: index,
    body,
  }));
  return [...events, { type: 'caughtUp', chatId, seq: events.length }];
}
