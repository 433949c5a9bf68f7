// Answers of a model as they are read: formulas, code, tables, diagrams; and what a hostile one
// tries.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findingsInBothSchemes } from './axe.js';
import { phone } from './browser.js';
import { fixture } from './fixture.js';
import { conversation, showConversation } from './forgedChat.js';
import { startScriptedModel } from './scriptedModel.js';
import { eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
let provider;
after(() => provider?.stop());

/** Words that are not the same over and over: a model on this computer that repeats itself is
    stopped. */
const count = (end) => Array.from({ length: end }, (_, n) => `number ${n}`).join(', ');

/** Opens a chat in which the model answered with this. */
async function read(t, answer, options) {
  provider ??= await startScriptedModel(suite);
  provider.says = answer;
  // In 500 pieces at most.
  provider.pace.pieceChars = Math.max(40, Math.ceil(answer.length / 500));
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

test('a hostile formula is text, and the page goes on', deadline, async (t) => {
  // Digits without a period: a model on this computer that repeats itself is stopped.
  const digit = (n) => Math.floor(Math.abs(Math.sin(n)) * 10);
  const braces = (brace, count) => Array.from({ length: count }, (_, n) => `${brace}${digit(n)}`);
  const deep = (count) => `\\(${[...braces('{', count), ...braces('}', count)].join('')}\\)`;
  const { page, ui, answer, requests } = await read(
    t,
    [
      String.raw`\(\href{javascript:window.owned=1}{click here}\)`,
      String.raw`\(\url{javascript:window.owned=1}\)`,
      String.raw`\(\htmlData{owned=1}{data}\htmlClass{owned}{class}\htmlId{owned}{id}\htmlStyle{position:fixed}{style}\)`,
      String.raw`\[\includegraphics[height=9em]{https://evil.example/pixel.png}\]`,
      String.raw`\(\def\a{\a\a}\a\)`,
      String.raw`\(\text{<img src=x onerror="window.owned=1">}\)`,
      // One that is just short enough to be drawn, and one that is not.
      deep(4_990),
      deep(20_000),
      'The end.',
    ].join('\n\n'),
  );
  await answer.getByText('The end.').waitFor();
  await answer.locator('.katex').first().waitFor();
  const links = answer.locator('a, img, [onerror], [data-owned], .owned, #owned, [href], [src]');
  assert.equal(await links.count(), 0);
  assert.equal(await answer.locator('[style*=fixed]').count(), 0);
  await answer.evaluate((answer) => {
    const click = new MouseEvent('click', { bubbles: true });
    for (const part of answer.querySelectorAll('.math *')) part.dispatchEvent(click);
  });
  assert.equal(await page.evaluate(() => window.owned), undefined);
  assert.deepEqual(
    requests.filter((url) => url.includes('evil.example')),
    [],
  );
  provider.says = 'Still here.';
  await ui.ask('And now?');
  await ui.answers.last().getByText('Still here.').waitFor();
});

test('what has been written stays as it is while the rest comes', deadline, async (t) => {
  provider ??= await startScriptedModel(suite);
  const first = [
    'The first paragraph.',
    '```js\nlet first = 1;\n```',
    '| a | b |\n|---|---|\n| 1 | 2 |',
    String.raw`\[ a^2 + b^2 \]`,
    '- one\n- two',
  ].join('\n\n');
  provider.says = `${first}\n\nThen ${count(600)}\n\nThe end.`;
  // Slow enough to be looked at, until it is told to come to its end.
  const pace = { pieceChars: 40, atOnce: 1, pauseMs: 100 };
  provider.pace = pace;
  t.after(() => (provider.pace = { pieceChars: 40, atOnce: Infinity, pauseMs: 0 }));
  const { page, ui } = await suite.visit(t);
  await ui.ask('Tell me.');
  await ui.answers.last().getByText('Then number').waitFor();
  await page.locator('.answer .hljs-keyword').waitFor();
  await page.locator('.answer .katex-display').waitFor();
  assert.equal(await ui.stopButton.count(), 1, 'it is still being written');
  const marked = await page.evaluate(() => {
    const parts = '.answer :is(p, pre, code, td, li, .katex)';
    // The last one grows.
    window.finished = [...document.querySelectorAll(parts)].slice(0, -1);
    return window.finished.length;
  });
  assert.ok(marked >= 7, `${marked} parts`);
  pace.pauseMs = 0;
  await ui.answers.last().getByText('The end.').waitFor();
  await ui.answered();
  const replaced = await page.evaluate(() =>
    window.finished.filter((part) => !part.isConnected).map((part) => part.outerHTML),
  );
  assert.deepEqual(replaced, []);
});

test('code in a list stays what it is while the list is written', deadline, async (t) => {
  provider ??= await startScriptedModel(suite);
  const step = (n) =>
    `${n}. Step ${n}:\n\n   \`\`\`js\n   let step${n} = "${count(30)}";\n   \`\`\`\n`;
  const steps = Array.from({ length: 9 }, (_, n) => step(n + 2));
  const htmlLines = '<!doctype html>\n   <title>A page</title>\n   <p>It is whole.</p>';
  provider.says = [
    step(1),
    `2. A page:\n\n   \`\`\`html\n   ${htmlLines}\n   ${count(150).replaceAll(', ', '\n   ')}\n   \`\`\`\n`,
    ...steps.slice(1),
    '> Quoted:\n>\n> ```mermaid\n> flowchart LR\n>   A --> B\n> ```\n',
    'The end.',
  ].join('\n');
  const pace = { pieceChars: 20, atOnce: 1, pauseMs: 100 };
  provider.pace = pace;
  t.after(() => (provider.pace = { pieceChars: 40, atOnce: Infinity, pauseMs: 0 }));
  const { page, ui } = await suite.visit(t);
  await ui.ask('Tell me.');
  const answer = ui.answers.last();
  await answer.locator('.code').nth(1).waitFor();
  await answer.locator('.hljs-keyword').first().waitFor();
  await answer.getByRole('button', { name: 'Wrap long lines' }).first().click();
  assert.equal(await answer.getByRole('button', { name: 'Preview' }).count(), 0, 'half a page');
  assert.equal(await ui.stopButton.count(), 1, 'it is still being written');
  await page.evaluate(() => {
    const pre = document.querySelector('.answer pre');
    window.finished = [pre, ...pre.querySelectorAll('*'), pre.closest('li')];
    document.getSelection().selectAllChildren(pre);
    window.selected = document.getSelection().toString();
    // Neither half a diagram nor half a page is tried.
    window.tried = [];
    const watch = new MutationObserver(() => {
      if (document.querySelector('.answer .why, .answer .notice')) window.tried.push('broken');
    });
    watch.observe(document.querySelector('.answer'), { childList: true, subtree: true });
  });
  pace.pauseMs = 10;
  await answer.getByText('The end.').waitFor();
  await ui.answered();
  await answer.getByRole('button', { name: 'Preview' }).waitFor();
  await answer.locator('blockquote figure img').waitFor();
  const { replaced, selected } = await page.evaluate(() => ({
    replaced: window.finished.filter((part) => !part.isConnected).map((part) => part.outerHTML),
    selected: document.getSelection().toString() === window.selected,
  }));
  assert.deepEqual(replaced, []);
  assert.ok(selected, 'what was selected still is');
  assert.deepEqual(await page.evaluate(() => window.tried), []);
  const wrap = answer.getByRole('button', { name: 'Wrap long lines' }).first();
  assert.equal(await wrap.getAttribute('aria-pressed'), 'true');
});

test(
  'code has its language, its colours and a copy button that covers nothing',
  deadline,
  async (t) => {
    const lines = Array.from({ length: 80 }, (_, n) => `  total += ${n}; // line ${n}`);
    const long = ['function sum() {', ...lines, '}'].join('\n');
    const { page, context, answer } = await read(
      t,
      `Run:\n\n\`\`\`bash\nnpm ci\n\`\`\`\n\n- in a list\n\n  \`\`\`python\n  print("x")\n  \`\`\`\n\n\`\`\`js\n${long}\n\`\`\`\n\nThe end.`,
    );
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const blocks = answer.locator('.code');
    await answer.locator('.hljs-keyword').first().waitFor();
    await answer.locator('.hljs-built_in').first().waitFor();
    const labels = await answer.locator('.code .bar span').allInnerTexts();
    assert.deepEqual(labels, ['Bash', 'Python', 'JavaScript']);

    const box = (locator) => locator.boundingBox();
    const [button, code] = [
      await box(blocks.first().getByRole('button', { name: 'Copy' })),
      await box(blocks.first().locator('pre')),
    ];
    assert.ok(button.y + button.height <= code.y, 'the button stands above the code');

    // Scrolled into the middle of the long one, its button is still there.
    await blocks.nth(2).evaluate((block) => {
      const view = block.closest('.view');
      view.scrollTop += block.getBoundingClientRect().top - view.getBoundingClientRect().top + 600;
    });
    const copy = blocks.nth(2).getByRole('button', { name: 'Copy' });
    const top = (await box(page.locator('.view'))).y;
    assert.ok(Math.abs((await box(copy)).y - top) < 12, 'the button sticks');
    await copy.click();
    await blocks.nth(2).getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${long}\n`);
  },
);

test('long lines are wrapped on demand, and very long code stays plain', deadline, async (t) => {
  const many = `let text = '${'x'.repeat(500)}';\n`.repeat(220);
  const { answer } = await read(
    t,
    `\`\`\`js\nconst a = "${'word '.repeat(60)}";\n\`\`\`\n\n\`\`\`js\n${many}\`\`\``,
    { viewport: phone },
  );
  await answer.locator('.hljs-keyword').first().waitFor();
  const pre = answer.locator('pre').first();
  const sideways = () => pre.evaluate((element) => element.scrollWidth > element.clientWidth);
  assert.equal(await sideways(), true);
  await answer.getByRole('button', { name: 'Wrap long lines' }).first().click();
  assert.equal(await sideways(), false);
  await eventually(
    'only one is coloured',
    async () => (await answer.locator('.hljs-keyword').count()) === 1,
  );
});

test(
  'a wide table scrolls in its own box, keeps its alignment, and is copied',
  deadline,
  async (t) => {
    const head = Array.from({ length: 9 }, (_, n) => `A header of several words ${n}`);
    const table = [head, head.map(() => '--:'), head.map((_, n) => String(n * 1000))]
      .map((cells) => `| ${cells.join(' | ')} |`)
      .join('\n');
    const { page, context, answer } = await read(t, table, { viewport: phone });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const box = answer.locator('.table');
    await box.waitFor();
    assert.ok(await box.evaluate((element) => element.scrollWidth > element.clientWidth));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const header = answer.locator('th').first();
    assert.ok((await header.boundingBox()).height > 40, 'header cells wrap');
    const side = (locator) => locator.evaluate((cell) => getComputedStyle(cell).textAlign);
    assert.equal(await side(header), 'end');
    assert.equal(await side(answer.locator('td').last()), 'end');
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await answer.getByRole('button', { name: 'Copy as CSV' }).click();
    await answer.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal((await clipboard()).split('\r\n')[1], '0,1000,2000,3000,4000,5000,6000,7000,8000');
    await answer.getByRole('button', { name: 'Copy as Markdown' }).click();
    await eventually('the copy', async () => (await clipboard()) === `${table}\n`);
    assert.deepEqual(await findingsInBothSchemes(page, 'a table'), []);
  },
);

test('footnotes lead there and back, details unfold', deadline, async (t) => {
  const { page, answer } = await read(
    t,
    [
      'Old[^1].',
      '<details>\n<summary>More</summary>\n\n```js\nlet a;\n```\n\n</details>',
      '- [x] done\n- [ ] open',
      '[^1]: Legendre, 1805.\n\n  ```bash\n  npm ci\n  ```',
    ].join('\n\n'),
  );
  await answer.getByRole('button', { name: '1', exact: true }).click();
  const focused = () => page.evaluate(() => document.activeElement.innerText.trim());
  assert.match(await focused(), /Legendre, 1805/);
  await answer.getByRole('button', { name: 'Back to the reference of footnote 1' }).click();
  assert.equal(await focused(), '1');
  const note = answer.getByRole('region', { name: 'Footnotes' });
  await note.getByRole('button', { name: 'Copy' }).waitFor();
  // A list of tasks says which are done.
  const tasks = answer.getByRole('listitem');
  assert.match(await tasks.filter({ hasText: 'done' }).innerText(), /^☑\s*done/);
  assert.match(await tasks.filter({ hasText: 'open' }).innerText(), /^☐\s*open/);
  assert.equal(await answer.locator('.hljs-keyword').count(), 0);
  await answer.getByText('More').click();
  await answer.locator('details .hljs-keyword').waitFor();
  assert.equal(await answer.locator('details .code').count(), 1);
  assert.deepEqual(await findingsInBothSchemes(page, 'an answer'), []);
});

test(
  'a picture from the web is asked for by a click, and through the server',
  deadline,
  async (t) => {
    const { page, answer, requests } = await read(
      t,
      '![Gauss](https://pictures.example/gauss.png?q=1)\n\n![Euler](https://pictures.example/euler.png)',
    );
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const asked = [];
    await page.route('**/api/image?*', (route) => {
      asked.push(new URL(route.request().url()).searchParams.get('url'));
      return route.fulfill({ contentType: 'image/png', body: Buffer.from(pixel, 'base64') });
    });
    const show = answer.getByRole('button', { name: 'Show image', exact: true });
    await show.first().waitFor();
    await answer.getByText('Gauss pictures.example').waitFor();
    assert.equal(await answer.locator('img').count(), 0);
    assert.deepEqual(asked, []);

    await show.first().click();
    await answer.getByRole('img', { name: 'Gauss' }).waitFor();
    assert.deepEqual(asked, ['https://pictures.example/gauss.png?q=1']);
    assert.equal(await show.count(), 1, 'the other one was not asked for');

    // Trusted once, the host is asked for at once, after a reload too; and no more when taken back.
    await answer.getByRole('button', { name: 'Always show images from pictures.example' }).click();
    await answer.getByRole('img', { name: 'Euler' }).waitFor();
    await page.reload();
    await answer.getByRole('img', { name: 'Euler' }).waitFor();
    const ask = answer.getByRole('button', { name: 'Ask before showing images from' });
    await ask.first().click();
    await page.reload();
    await show.first().waitFor();
    assert.equal(await answer.locator('img').count(), 0);
    assert.deepEqual(
      requests.filter((url) => url.includes('pictures.example') && !url.includes('/api/image?')),
      [],
    );
  },
);

test('a picture that the server cannot get says so', deadline, async (t) => {
  // Names under `.invalid` lead nowhere.
  const { answer } = await read(t, '![Gauss](https://pictures.invalid/gauss.png)');
  await answer.getByRole('button', { name: 'Show image' }).click();
  await answer.getByText('could not be loaded from pictures.invalid').waitFor();
  await answer.getByRole('button', { name: 'Try again' }).waitFor();
  const link = answer.getByRole('link', { name: 'Open at pictures.invalid in a new tab' });
  assert.equal(await link.getAttribute('href'), 'https://pictures.invalid/gauss.png');
});

/** Opens a chat in which a tool gave this back. */
async function readOutput(t, content, prepare = () => {}) {
  const { page, ui } = await suite.visit(t);
  await page.addInitScript(prepare);
  const show = await showConversation(page);
  await show(suite.tenon.url, conversation({ output: content }));
  await ui.cards.first().getByRole('button').first().click();
  return { page, ui, card: ui.cards.first() };
}

test('JSON of a tool is a tree, a table and plain', deadline, async (t) => {
  const rows = Array.from({ length: 120 }, (_, n) => ({
    id: n,
    name: `<b>row ${n}</b>`,
    tags: ['a', n],
  }));
  const { page, card } = await readOutput(t, {
    type: 'text',
    text: JSON.stringify({ items: rows }),
  });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await card.getByRole('button', { name: /^items\s+120 items/ }).waitFor();
  await card.getByRole('button', { name: /^7\s+3 fields/ }).click();
  await card.getByText('"<b>row 7</b>"').waitFor();
  assert.equal(await card.getByRole('button', { name: /^1[01]\d\s/ }).count(), 0);
  await card.getByRole('button', { name: 'Show 20 more of 120' }).click();
  await card.getByRole('button', { name: /^119\s/ }).waitFor();

  await card.getByText('Table', { exact: true }).click();
  await card.getByText('120 rows').waitFor();
  assert.deepEqual(await card.locator('th').allInnerTexts(), ['id', 'name', 'tags']);
  assert.equal(await card.locator('tbody tr').count(), 50);
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await card.getByRole('button', { name: 'Copy as CSV' }).click();
  await card.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal((await clipboard()).split('\r\n')[8], '7,<b>row 7</b>,"[""a"",7]"');
  await card.getByRole('button', { name: 'Copy as JSON' }).click();
  await eventually('the copy', async () => (await clipboard()).startsWith('['));
  assert.deepEqual(JSON.parse(await clipboard()), rows);

  await card.getByText('Plain', { exact: true }).click();
  await card.locator('pre').getByText('{"items":[{"id":0').waitFor();
});

test('five megabytes of JSON do not stop the page', deadline, async (t) => {
  const big = { list: Array.from({ length: 50_000 }, (_, n) => ({ n, text: 'x'.repeat(80) })) };
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  // From before it arrives.
  const { page, card } = await readOutput(t, { type: 'json', value: { ...big, deep } }, () => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        window.longest = Math.max(window.longest, duration);
    }).observe({ type: 'longtask' });
  });
  await card.getByRole('button', { name: /^list\s+50000 items/ }).waitFor();
  // A list is opened with the little that stands beside it.
  await card.getByRole('button', { name: 'Show 100 more of 50000' }).waitFor();
  await card.getByText('Table', { exact: true }).click();
  await card.getByText('50000 rows').waitFor();
  await card.getByText('Plain', { exact: true }).click();
  await card.getByRole('button', { name: /^Show more \(/ }).waitFor();
  const longest = await page.evaluate(() => window.longest);
  t.diagnostic(`longest task: ${Math.round(longest)} ms`);
  assert.ok(longest < 1000, `${longest} ms`);
});
