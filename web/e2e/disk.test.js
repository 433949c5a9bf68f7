// A disk that is nearly full: the page says so before anybody writes something in vain.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixture } from './fixture.js';

const settings = join(mkdtempSync(join(tmpdir(), 'tenon-settings-')), 'tenon.toml');
// More than any disk has.
writeFileSync(settings, 'free_space_mb = 1000000000\n');
const { visit } = fixture({ TENON_CONFIG: settings });

test('a page says that the disk is nearly full, and what was written stays', async (t) => {
  const { page, ui, complaints } = await visit(t);
  await page.getByText("The server's disk is nearly full. Nothing new can be started").waitFor();
  await ui.ask('6 * 7');
  await page.getByText(/less than \d+ MB are free on the server's disk/i).waitFor();
  assert.equal(await ui.field.inputValue(), '6 * 7');
  // The browser tells the console of every refusal.
  assert.match(complaints.splice(0).join(), /^console: Failed to load resource: .* 507/);
});
