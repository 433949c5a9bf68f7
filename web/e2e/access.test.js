// axe finds nothing serious, in both themes and both widths.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsInBothSchemes } from './axe.js';
import { desktop, phone } from './browser.js';
import { fixture } from './fixture.js';
import { serversOf } from './servers.js';
import { allTools } from './screen.js';

const suite = fixture();
const { visit } = suite;
const deadline = { timeout: 90_000 };

/** A document with something of everything that is shown of one. */
const shop = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'http://127.0.0.1:9' }],
  paths: {
    '/ask': { get: { operationId: 'ask', deprecated: true } },
    '/odd': {
      get: { operationId: 'odd', parameters: [{ $ref: 'other.yaml#/x', required: true }] },
    },
  },
  security: [{ key: [] }, { basic: [] }, { digest: [] }],
  components: {
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      basic: { type: 'http', scheme: 'basic' },
      digest: { type: 'http', scheme: 'digest' },
    },
  },
});

for (const [name, viewport] of Object.entries({ desktop, phone })) {
  test(`no serious barrier: ${name}`, deadline, async (t) => {
    const { page, ui } = await visit(t, { viewport });
    await page.getByText('Built-in assistant').first().waitFor();
    const found = await findingsInBothSchemes(page, 'empty');

    await ui.ask('Make a file notes.md with a to-do list and read it back');
    await ui.answered();
    await ui.cards.first().getByRole('button').first().click();
    found.push(...(await findingsInBothSchemes(page, 'chat')));

    await allTools(page).click();
    await page.getByRole('dialog', { name: 'Tools' }).getByRole('listitem').first().waitFor();
    await page.getByRole('button', { name: 'How to start one' }).click();
    found.push(...(await findingsInBothSchemes(page, 'tools')));
    await page.keyboard.press('Escape');

    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    found.push(...(await findingsInBothSchemes(page, 'palette')));
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: /^Model: / }).click();
    await page.getByRole('listbox', { name: 'Models' }).waitFor();
    found.push(...(await findingsInBothSchemes(page, 'model picker')));
    await page.getByRole('option', { name: 'Manage models…' }).click();
    await page.getByRole('region', { name: 'Models' }).waitFor();
    found.push(...(await findingsInBothSchemes(page, 'models')));
    await page.getByRole('button', { name: 'Connect a model' }).click();
    await page.getByRole('button', { name: 'More' }).click();
    found.push(...(await findingsInBothSchemes(page, 'model form')));
    await page.keyboard.press('Escape');

    const servers = serversOf(page);
    await servers.open();
    found.push(...(await findingsInBothSchemes(page, 'no servers')));
    await servers.addProgram('broken', 'node', '-e', 'console.error("no"); process.exit(3)');
    await servers.row('broken').getByRole('alert').waitFor();
    await servers.row('broken').getByRole('list', { name: 'Its output' }).waitFor();
    await servers.row('broken').getByRole('button', { name: 'Show log' }).click();
    await servers.row('broken').getByRole('group', { name: 'Log of broken' }).waitFor();
    found.push(...(await findingsInBothSchemes(page, 'servers')));
    await servers.choose('broken', 'Edit');
    await servers.form.getByRole('button', { name: 'Add a variable' }).click();
    await servers.form.getByRole('button', { name: 'More' }).click();
    found.push(...(await findingsInBothSchemes(page, 'server form')));
    await page.keyboard.press('Escape');
    await servers.choose('broken', 'Remove');
    found.push(...(await findingsInBothSchemes(page, 'remove a server')));
    await servers.row('broken').getByRole('button', { name: 'Remove', exact: true }).click();
    await servers.row('broken').waitFor({ state: 'detached' });
    await servers.addOpenapi();
    await servers.form.getByRole('radio', { name: 'I have it here' }).check();
    await servers.form.getByRole('textbox', { name: 'OpenAPI document' }).fill(shop);
    await servers.form.getByRole('button', { name: 'Look', exact: true }).click();
    await servers.form.getByRole('group', { name: 'What was found' }).waitFor();
    found.push(...(await findingsInBothSchemes(page, 'a look at an OpenAPI server')));
    await servers.form.getByRole('button', { name: 'Add', exact: true }).click();
    const row = servers.row('shop');
    await row.getByRole('button', { name: 'About its document' }).click();
    await servers.choose('shop', 'Read again');
    await row.getByText('Nothing has changed.').waitFor();
    found.push(...(await findingsInBothSchemes(page, 'an OpenAPI server')));
    await servers.choose('shop', 'Remove');
    await row.getByRole('button', { name: 'Remove', exact: true }).click();
    await row.waitFor({ state: 'detached' });
    await servers.paste.click();
    await servers.importForm.getByLabel('Configuration').fill('{"mcpServers": {"a": {}}}');
    found.push(...(await findingsInBothSchemes(page, 'import servers')));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');

    await ui.field.press('ArrowUp');
    await ui.editor.waitFor();
    found.push(...(await findingsInBothSchemes(page, 'editor')));
    await ui.editor.press('Enter');
    await page.getByRole('group', { name: 'Answer 2 of 2' }).waitFor();
    await ui.answered();
    found.push(...(await findingsInBothSchemes(page, 'versions')));

    const asks = (policy) => {
      const tools = [{ toolId: 'builtin_current_time', policy }];
      return suite.tell('PATCH', '/tools', { layer: 'user', tools });
    };
    await asks('ask');
    await ui.ask('What time is it in Tokyo?');
    await page.locator('.card[data-status=asking]').waitFor();
    found.push(...(await findingsInBothSchemes(page, 'question')));
    await page.getByRole('button', { name: 'Deny' }).click();
    await ui.answered(2);
    await asks(null);

    await ui.menu('Share…');
    await page.getByRole('button', { name: 'Create link' }).click();
    const link = page.getByRole('textbox', { name: 'Link' });
    await link.waitFor();
    found.push(...(await findingsInBothSchemes(page, 'share')));
    const address = await link.inputValue();
    await page.keyboard.press('Escape');
    await ui.menu('Delete');
    await page.getByRole('dialog', { name: /^Delete/ }).waitFor();
    found.push(...(await findingsInBothSchemes(page, 'delete')));
    await page.keyboard.press('Escape');

    if (viewport === phone) {
      await page.getByRole('button', { name: 'Open chat list' }).click();
      await ui.rows.first().waitFor();
      found.push(...(await findingsInBothSchemes(page, 'sheet')));
    }
    await ui.search.fill('to-do');
    await page.locator('mark').first().waitFor();
    found.push(...(await findingsInBothSchemes(page, 'search')));

    await page.goto(address);
    await page.getByText('Made with Tenon').waitFor();
    found.push(...(await findingsInBothSchemes(page, 'shared')));
    assert.deepEqual(found, []);
  });
}
