// The main screens in Chinese: nothing of them is in English, and axe finds nothing serious.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings } from './axe.js';
import { englishAt } from './english.js';
import { fixture } from './fixture.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

const languages = {
  'zh-CN': {
    ask: '计算 (17+4)*23',
    calculate: '数学/计算',
    time: '当前时间',
    wants: '时间/当前时间',
    trace: '查看追踪',
    ofTurn: '此回答的追踪',
  },
  'zh-TW': {
    ask: '計算 (17+4)*23',
    calculate: '數學/計算',
    time: '目前時間',
    wants: '時間/目前時間',
    trace: '檢視追蹤',
    ofTurn: '此回答的追蹤',
  },
};

for (const [locale, words] of Object.entries(languages)) {
  test(`the main screens speak the language: ${locale}`, deadline, async (t) => {
    const { page } = await suite.visit(t, { locale });
    const field = page.locator('textarea').last();
    await page.locator('.assistant:not(:empty)').waitFor();
    const found = await findings(page, 'empty');
    found.push(...(await englishAt(page.locator('body'), 'empty')));

    await field.fill(words.ask);
    await field.press('Enter');
    const card = page.locator('.card').first();
    await page.locator('.card[data-status=done]').waitFor();
    await card.getByText(words.calculate).waitFor();
    await card.getByRole('button').first().click();
    found.push(...(await findings(page, 'chat')));
    found.push(...(await englishAt(page.locator('main'), 'chat')));
    await page.locator('.answer .foot').getByRole('button', { name: words.trace }).click();
    const trace = page.getByRole('region', { name: words.ofTurn });
    await trace.locator('[data-kind=tool]').click();
    await trace.locator('dl').waitFor();
    found.push(...(await englishAt(trace, 'trace')));
    await page.keyboard.press('Escape');

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
    await question.locator('button.once').click();
    await page.locator('.stop').waitFor({ state: 'detached' });
    await asks(null);

    await page.keyboard.press('Alt+Shift+L');
    const panel = page.getByRole('dialog');
    await panel.getByText(words.time, { exact: true }).first().waitFor();
    assert.equal(await panel.getByText('Current time').count(), 0);
    assert.equal(await panel.getByText('Tells the current date').count(), 0);
    found.push(...(await findings(page, 'tools')));
    found.push(...(await englishAt(panel, 'tools')));
    await panel.locator('li[title=builtin_current_time] .open').click();
    await panel.getByRole('form').waitFor();
    found.push(...(await englishAt(panel, 'tool')));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });

    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').nth(20).waitFor();
    found.push(...(await findings(page, 'palette')));
    // A built-in tool is found by its English name as well.
    await page.keyboard.type('current time');
    await page.getByRole('option', { name: words.wants }).waitFor();
    assert.deepEqual(found, []);
  });
}

/** In single-user mode, where there are no accounts. */
const settingsPages = [
  ...['instructions', 'appearance', 'notifications', 'shortcuts', 'data', 'servers', 'local'],
  ...['skills', 'policies', 'models', 'experts', 'prompts', 'dashboard', 'log'],
];

for (const [locale, words] of Object.entries(languages)) {
  test(`the settings speak the language: ${locale}`, deadline, async (t) => {
    // The log and the statistics have something to tell.
    const input = { arguments: { expression: '6*7' } };
    await suite.tell('POST', '/tools/builtin_calculate/call', input);
    const { page } = await suite.visit(t, { locale });
    const found = [];
    for (const section of settingsPages) {
      await page.evaluate((section) => (location.hash = `#/settings/${section}`), section);
      const region = page.getByRole('dialog').getByRole('region').first();
      await page.locator(`[aria-current=page][href$="/${section}"]`).waitFor();
      await region.locator(':is(h3, h4)').first().waitFor();
      await region.locator('.skeleton').first().waitFor({ state: 'detached' });
      if (section === 'dashboard' || section === 'log')
        await region.getByText(words.calculate).first().waitFor();
      found.push(...(await englishAt(page.getByRole('dialog'), section)));
    }
    assert.deepEqual(found, []);
  });
}
