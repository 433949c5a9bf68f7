// What a tool gives that is neither words nor a picture.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fixture } from './fixture.js';
import { addServer, startScriptedModel } from './scriptedModel.js';
import { fast } from './peers.js';

const suite = fixture();
let provider;

after(() => provider?.stop());

test('a sound is played and a file is downloaded', { timeout: 90_000 }, async (t) => {
  provider = await startScriptedModel(suite);
  const server = { kind: 'mcp', name: 'fast', command: fast[0], args: [fast[1], 'stdio'] };
  await addServer(suite, server, 'mcp_fast_sound', 'mcp_fast_archive');
  const { page, ui } = await suite.visit(t);
  await ui.ask('Call sound');
  const card = ui.cards.first();
  await page.locator('.card[data-status=done]').waitFor();
  await card.getByRole('button').first().click();
  const sound = card.locator('audio');
  await sound.waitFor();
  const seconds = await sound.evaluate(
    (audio) =>
      new Promise((resolve, reject) => {
        if (audio.readyState > 0) resolve(audio.duration);
        audio.addEventListener('loadedmetadata', () => resolve(audio.duration));
        audio.addEventListener('error', () => reject(new Error(audio.error.message)));
      }),
  );
  assert.equal(seconds, 0.5);

  await ui.ask('Call archive');
  const other = ui.cards.nth(1);
  await page.locator('.card[data-status=done]').nth(1).waitFor();
  await other.getByRole('button').first().click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    other.getByRole('link', { name: 'Download nothing.zip (22 B)' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'nothing.zip');
});
