// Which tools are on, and which ask first: kept by the server.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { fixture } from './fixture.js';
import { address, allTools, eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
const toolId = 'builtin_current_time';

afterEach(async () => {
  const tools = [{ toolId, enabled: null, policy: null }];
  await suite.tell('PATCH', '/tools', { layer: 'user', tools });
  await suite.tell('PATCH', '/tools', { layer: 'organisation', tools });
});

function toolsOn(page) {
  const wrench = page.getByRole('button', { name: /^Tools:/ });
  const all = allTools(page);
  const panel = page.getByRole('dialog', { name: 'Tools' });
  const row = panel.locator(`li[title=${toolId}]`);
  return {
    wrench,
    panel,
    row,
    flip: row.getByRole('switch'),
    count: async () => Number(await wrench.innerText()),
    async open() {
      await all.click();
      await row.waitFor();
    },
    async isOn(on) {
      await eventually(`it is ${on ? 'on' : 'off'}`, async () => {
        return (await this.flip.getAttribute('aria-checked')) === String(on);
      });
    },
  };
}

/** What the server says about the tool, in a chat or without one. */
const view = async (chatId) => {
  const tools = await suite.tell('GET', `/tools${chatId ? `?chatId=${chatId}` : ''}`);
  return tools.find((tool) => tool.toolId === toolId);
};

test(
  'a switch in a chat is for that chat, and survives a reload and another browser',
  deadline,
  async (t) => {
    const { page, ui } = await suite.visit(t);
    await ui.ask('Hello');
    await ui.answered();
    const tools = toolsOn(page);
    await eventually('tools are counted', async () => (await tools.count()) > 0);
    const count = await tools.count();
    await tools.open();
    await tools.panel.getByText(/on in this chat/).waitFor();
    await tools.flip.click();
    await page.keyboard.press('Escape');
    await eventually('one less', async () => (await tools.count()) === count - 1);
    const id = (await address(page)).split('/').pop();
    await eventually('the server knows', async () => !(await view(id)).enabled);
    assert.equal((await view()).enabled, true);

    const [request] = await Promise.all([
      page.waitForRequest((request) => request.url().endsWith('/turns')),
      ui.ask('Hello again'),
    ]);
    assert.equal(request.postDataJSON().toolIds, undefined);
    await ui.answered(2);

    await page.reload();
    await eventually('it is still off', async () => (await tools.count()) === count - 1);
    const other = await suite.visit(t);
    await other.page.goto(await address(page));
    await eventually('and there', async () => (await toolsOn(other.page).count()) === count - 1);

    await tools.open();
    await tools.panel.getByRole('button', { name: 'Use in all chats' }).click();
    await eventually('the person has it off', async () => !(await view()).enabled);
    await tools.panel
      .getByRole('button', { name: 'Use in all chats' })
      .waitFor({ state: 'detached' });
    assert.equal((await view(id)).enabledBy, 'user');
  },
);

test('a switch on the page of a new chat is for all of them', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const tools = toolsOn(page);
  await tools.open();
  await tools.panel.getByText(/for all your chats/).waitFor();
  await tools.flip.click();
  await tools.isOn(false);
  await eventually('the server knows', async () => (await view()).enabledBy === 'user');
  await page.keyboard.press('Escape');
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  await tools.open();
  await tools.isOn(false);
});

test('a switch that fails goes back and says so', deadline, async (t) => {
  const { page } = await suite.visit(t);
  const tools = toolsOn(page);
  await tools.open();
  await page.route('**/api/tools', (route) =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  );
  await tools.flip.click();
  await page.getByText(/^Not changed/).waitFor({ state: 'attached' });
  await tools.isOn(true);
});

test('a policy is chosen for all chats', deadline, async (t) => {
  const { page } = await suite.visit(t);
  const tools = toolsOn(page);
  await tools.open();
  await tools.row.getByRole('button', { name: /: allow$/ }).click();
  await page.getByRole('menuitemradio', { name: 'Ask me each time' }).click();
  await tools.row.getByRole('button', { name: /: ask$/ }).waitFor();
  await eventually('the server knows', async () => (await view()).policy === 'ask');
  assert.equal((await view()).policyBy, 'user');
  await tools.row.getByRole('button', { name: /: ask$/ }).click();
  await page.getByRole('menuitem', { name: 'Back to the default' }).click();
  await tools.row.getByRole('button', { name: /: allow$/ }).waitFor();
});

test('what this chat alone allows is told, and taken back alone', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.ask('Hello');
  await ui.answered();
  const chatId = (await address(page)).split('/').pop();
  const set = (layer, policy) =>
    suite.tell('PATCH', '/tools', { layer, chatId, tools: [{ toolId, policy }] });
  await set('user', 'ask');
  await set('chat', 'allow');
  await page.reload();
  const tools = toolsOn(page);
  await tools.open();
  await tools.row.getByText('In this chat: allow').waitFor();
  await tools.row.getByRole('button', { name: /: allow$/ }).click();
  await page.getByRole('menuitem', { name: 'Back to the default' }).click();
  await tools.row.getByRole('button', { name: /: ask$/ }).waitFor();
  assert.equal((await view(chatId)).policyBy, 'user');
});

test(
  'what the organisation forbids is shown so, and cannot be switched on',
  deadline,
  async (t) => {
    await suite.tell('PATCH', '/tools', {
      layer: 'organisation',
      tools: [{ toolId, policy: 'deny' }],
    });
    const { page } = await suite.visit(t);
    const tools = toolsOn(page);
    await tools.open();
    await tools.row.getByText('Not allowed by your organisation').waitFor();
    assert.ok(await tools.flip.isDisabled());
  },
);
