// Pictures of the page, for people. `node e2e/screenshots.js FOLDER` makes one of every screen;
// without a folder it makes those of docs/screens.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { desktop, openBrowser, openPage, phone } from './browser.js';
import { shootForDocs } from './docScreens.js';
import { Tenon } from './tenon.js';

const folder = process.argv[2];
if (folder) await mkdir(folder, { recursive: true });

const browser = await openBrowser();
let tenon;
try {
  if (folder) {
    tenon = await Tenon.start();
    await shootAll();
  } else {
    await shootForDocs(browser);
  }
} finally {
  await browser.close();
  await tenon?.stop();
}

async function shootAll() {
  for (const colorScheme of ['light', 'dark']) {
    for (const [width, viewport] of Object.entries({ 1280: desktop, 390: phone })) {
      for (const locale of ['en-GB', 'zh-CN']) await shoot(colorScheme, width, viewport, locale);
    }
  }
}

async function shoot(colorScheme, width, viewport, locale) {
  const { page, context } = await openPage(browser, tenon.url, {
    as: tenon,
    colorScheme,
    viewport,
    locale,
    deviceScaleFactor: 2,
  });
  const picture = (name) =>
    page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}-${locale}.png`) });
  const field = page.getByRole('textbox').last();

  await page.locator('.assistant:not(:empty)').waitFor();
  await picture('empty');

  await ask('What time is it in Tokyo?', 1);
  await ask('Make a file notes.md with a to-do list and read it back', 2);
  await ask('东京现在几点？', 3);
  await page.locator('.card').last().getByRole('button').first().click();
  await picture('chat');

  await page.locator('form .tools').first().click();
  await page.locator('dialog li').first().waitFor();
  await picture('tools');
  await page.keyboard.press('Escape');

  await page.keyboard.press('Control+k');
  await page.locator('dialog input').waitFor();
  await picture('palette');
  await page.keyboard.press('Escape');

  await page.locator('header .model button').first().click();
  await page.locator('[role=listbox] [role=option]').first().waitFor();
  await picture('picker');
  await page.locator('[role=listbox] [role=option]').last().click();
  await page.locator('dialog li').first().waitFor();
  await picture('models');
  await page.evaluate(() => (location.hash = '#/settings/models/new'));
  await page.locator('dialog form').waitFor();
  await picture('connect');
  await page.keyboard.press('Escape');

  for (const section of [
    '',
    '/appearance',
    '/notifications',
    '/shortcuts',
    '/data',
    '/local',
    '/policies',
  ]) {
    await page.evaluate((section) => (location.hash = `#/settings${section}`), section);
    await page.locator('dialog :is(h3, nav a)').first().waitFor();
    await picture(`settings${section.replace('/', '-')}`);
    await page.keyboard.press('Escape');
  }

  await page.evaluate(() => (location.hash = '#/settings/servers'));
  await page.locator('dialog .empty').waitFor();
  await picture('servers');
  await page.locator('dialog .empty + .buttons button').first().click();
  await page.locator('dialog form').waitFor();
  await picture('add-server');
  await page.keyboard.press('Escape');
  await page.locator('dialog .empty').waitFor();
  await page.keyboard.press('Escape');

  await page.evaluate(() => (location.hash = '#/settings/skills'));
  await page.locator('dialog .empty').waitFor();
  await picture('skills');
  await page.locator('dialog .empty ~ .button-row button').nth(1).click();
  await page.locator('.cm-line span').first().waitFor();
  await page.locator('dialog .tools li').first().waitFor();
  await picture('write-tool');
  await page.locator('dialog header button').last().focus();
  await page.keyboard.press('Escape');
  await page.locator('.cm-content').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');

  if (viewport === phone) {
    await page.locator('header button').first().click();
    await page.locator('nav li').first().waitFor();
    await picture('sheet');
  }
  await context.close();

  async function ask(text, count) {
    await field.fill(text);
    await field.press('Enter');
    await page
      .locator('article')
      .nth(count - 1)
      .waitFor();
    await page.locator('.stop').waitFor({ state: 'detached' });
  }
}
