// The reference of the API: from this server alone, on a desktop and a phone, light and dark.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desktop, phone } from './browser.js';
import { fixture } from './fixture.js';
import { eventually } from './screen.js';

const suite = fixture();
const { visit } = suite;

for (const [name, viewport, colorScheme] of [
  ['desktop', desktop, 'light'],
  ['phone', phone, 'dark'],
]) {
  test(`the reference of the API is read offline: ${name}, ${colorScheme}`, async (t) => {
    const { page } = await visit(t, { viewport, colorScheme });
    const { origin } = new URL(page.url());
    // What the app asks for is not the reference's doing.
    await page.goto('about:blank');
    const elsewhere = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.origin !== origin) elsewhere.push(request.url());
    });
    const problems = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));

    await page.goto(`${origin}/api/docs`);
    const operation = page.getByRole('button', { name: /\/api\/chats\/\{id\}\/turns/ }).first();
    // Swagger UI draws the rows of a long list only where they are scrolled to.
    await eventually('the operation is drawn', async () => {
      if ((await operation.count()) > 0) return true;
      await page.mouse.wheel(0, 500);
      return false;
    });
    await operation.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Request body').first().waitFor();

    assert.deepEqual({ elsewhere, problems }, { elsewhere: [], problems: [] });
    const { isDark, overflow } = await page.evaluate(() => ({
      isDark: document.documentElement.classList.contains('dark-mode'),
      overflow: document.documentElement.scrollWidth - innerWidth,
    }));
    assert.equal(isDark, colorScheme === 'dark');
    assert.ok(overflow <= 0, `${overflow} px too wide`);
  });
}
