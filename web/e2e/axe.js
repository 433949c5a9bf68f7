// Accessibility findings of axe on a page, as sentences.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The findings in light, then those in dark. The page is light again afterwards. */
export async function findingsInBothSchemes(page, where) {
  const found = [];
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await findings(page, `${where}, ${colorScheme}`)));
  }
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

/** What is serious or worse, there or anywhere. A dark page differs from a light one only in its colours, so only
    these are checked there. */
export async function findings(page, where, within) {
  // Evaluated from outside the page: its own policy would forbid a script tag, as it should.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate((within) => {
    const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
    const options = { resultTypes: ['violations'] };
    return window.axe.run(
      within ?? document,
      isDark ? { ...options, runOnly: ['color-contrast'] } : options,
    );
  }, within);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${where}: ${id}: ${html}\n${failureSummary}`),
    );
}
