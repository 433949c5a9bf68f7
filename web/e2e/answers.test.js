// Answers of a model as they are read: formulas, code, tables, diagrams; and what a hostile one tries.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openPage, phone } from './browser.js';
import { fixture } from './fixture.js';
import { startScriptedModel } from './scriptedModel.js';
import { eventually, screen } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
let provider;
after(() => provider?.stop());

/** Opens a chat in which the model answered with this. */
async function read(t, answer, options) {
  provider ??= await startScriptedModel(suite);
  provider.says = answer;
  const requests = [];
  const visit = await suite.visit(t, options);
  visit.page.on('request', (request) => requests.push(request.url()));
  await visit.ui.ask('Tell me.');
  await visit.ui.answered();
  return { ...visit, requests, answer: visit.ui.answers.first() };
}

test('formulas are drawn with fonts of our own, and broken ones are shown', deadline, async (t) => {
  const { answer, requests } = await read(
    t,
    [
      String.raw`Inline \(a^2 + b^2\) costs $5, not $10.`,
      String.raw`\[ \int_0^1 x^2 \, dx = \frac{1}{3} \]`,
      String.raw`Broken: \(\frac{1\)`,
    ].join('\n\n'),
  );
  await answer.locator('.katex-display').waitFor();
  assert.equal(await answer.locator('.katex').count(), 2);
  assert.match(await answer.locator('p').first().innerText(), /costs \$5, not \$10\./);
  assert.equal(await answer.locator('.math.broken').innerText(), String.raw`\(\frac{1\)`);
  const fonts = requests.filter((url) => /\.(woff2?|ttf)/.test(url));
  assert.ok(fonts.length > 0);
  for (const url of fonts) assert.ok(url.startsWith(suite.tenon.url), url);
});
