// The main screens in Chinese: nothing of them is in English, and axe finds nothing serious.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings } from './axe.js';
import { fixture } from './fixture.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

const languages = {
  'zh-CN': {
    ask: '计算 (17+4)*23',
    calculate: '数学/计算',
    time: '当前时间',
    wants: '时间/当前时间',
  },
  'zh-TW': {
    ask: '計算 (17+4)*23',
    calculate: '數學/計算',
    time: '目前時間',
    wants: '時間/目前時間',
  },
};

/** English words in what can be read. Names of products, formats and keys stay as they are. */
function englishIn(text) {
  const known =
    /^(Tenon|API|MCP|JSON|OpenAPI|HTTP|CORS|Ctrl|Alt|Shift|Esc|K|mcpo|MCPO|Markdown|KB|ms|s)$/i;
  return (text.match(/[A-Za-z]{3,}/g) ?? []).filter((word) => !known.test(word));
}

for (const [locale, words] of Object.entries(languages)) {
  test(`the main screens speak the language: ${locale}`, deadline, async (t) => {
    const { page } = await suite.visit(t, { locale });
    const field = page.locator('textarea').last();
    await page.locator('.assistant:not(:empty)').waitFor();
    const found = await findings(page, 'empty');
    assert.deepEqual(englishIn(await page.locator('nav').first().innerText()), []);

    await field.fill(words.ask);
    await field.press('Enter');
    const card = page.locator('.card').first();
    await page.locator('.card[data-status=done]').waitFor();
    await card.getByText(words.calculate).waitFor();
    await card.getByRole('button').first().click();
    found.push(...(await findings(page, 'chat')));

    const asks = (policy) =>
      suite.tell('PATCH', '/tools', {
        layer: 'user',
        tools: [{ toolId: 'builtin_current_time', policy }],
      });
    await asks('ask');
    await field.fill('东京现在几点？');
    await field.press('Enter');
    const question = page.locator('.card[data-status=asking]');
    await question.getByText(words.wants).first().waitFor();
    found.push(...(await findings(page, 'question')));
    await question.getByRole('button').nth(1).click();
    await page.locator('.stop').waitFor({ state: 'detached' });
    await asks(null);

    await page.keyboard.press('Alt+Shift+L');
    const panel = page.getByRole('dialog');
    await panel.getByText(words.time, { exact: true }).first().waitFor();
    assert.equal(await panel.getByText('Current time').count(), 0);
    assert.equal(await panel.getByText('Tells the current date').count(), 0);
    found.push(...(await findings(page, 'tools')));
    await page.keyboard.press('Escape');

    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').nth(20).waitFor();
    found.push(...(await findings(page, 'palette')));
    // A built-in tool is found by its English name as well.
    await page.keyboard.type('current time');
    await page.getByRole('option', { name: words.wants }).waitFor();
    assert.deepEqual(found, []);
  });
}
