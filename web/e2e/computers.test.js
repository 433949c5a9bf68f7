// One person at two computers, each with a tool server of its own.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startCounter } from './counter.js';
import { fixture } from './fixture.js';
import { localTools, lookAt } from './local.js';
import { allTools, eventually } from './screen.js';
import { startScriptedModel } from './scriptedModel.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let model;

after(() => model?.stop());

/** A page at a computer of this name, which looks at one server. */
async function sit(t, name) {
  const counter = await startCounter();
  t.after(() => counter.stop());
  const looks = lookAt(counter.url);
  const remembers = { ...looks.remembers, 'tenon.deviceName': name };
  const visit = await suite.visit(t, { ...looks, remembers });
  const found = () => localTools(suite, counter.url, 'ready');
  await eventually('its tools', async () => (await found()).length > 0, 30_000);
  return { ...visit, tool: (await found())[0] };
}

test('a list and an approval say which computer', deadline, async (t) => {
  model = await startScriptedModel(suite);
  const desk = await sit(t, 'Desk');
  const { page, ui, tool } = await sit(t, 'Laptop');
  assert.equal(tool.source.local.deviceName, 'Laptop');

  await allTools(page).click();
  const panel = page.getByRole('dialog', { name: 'Tools' });
  await panel.locator('.device', { hasText: 'Desk' }).first().waitFor();
  // Of this one it need not be said.
  assert.equal(await panel.locator('.device', { hasText: 'Laptop' }).count(), 0);
  await page.keyboard.press('Escape');

  // The model is told of what is here, and that is what is counted.
  const tools = await suite.tell('GET', '/tools');
  const told = tools.filter(
    ({ enabled, source }) =>
      enabled && source.state === 'ready' && source.local?.deviceName !== 'Desk',
  );
  const wrench = page.getByRole('button', { name: /^Tools:/ });
  await eventually(
    'it counts those of this computer',
    async () => (await wrench.innerText()) === `${told.length}`,
  );

  const { toolId } = tool;
  await suite.tell('PATCH', '/tools', { layer: 'user', tools: [{ toolId, policy: 'ask' }] });
  await ui.ask(`Call ${toolId} {"number": 1}`);
  const question = page.locator('.card[data-status=asking]');
  await question.waitFor();
  await question.getByRole('group').getByText('Laptop').waitFor();
  await question.getByRole('button', { name: 'Allow once', exact: true }).click();
  await ui.answered();

  // From there it is another computer's, and says so.
  await desk.page.reload();
  await allTools(desk.page).click();
  const other = desk.page.getByRole('dialog', { name: 'Tools' });
  await other.locator('.device', { hasText: 'Laptop' }).first().waitFor();
});
