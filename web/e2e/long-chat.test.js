// A chat of many rich answers: it opens at once, and nothing jumps on the way up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { eventually } from './screen.js';

const { visit } = fixture();
const deadline = { timeout: 90_000 };
const COUNT = 200;

const rich = (n) =>
  [
    `## Answer ${n}`,
    `Some **bold** words with \`code\` and \\(a_${n}^2\\). ${'A sentence that fills a line. '.repeat(8)}`,
    `- one\n- two\n  - three ${n}`,
    `\`\`\`js\nfunction f${n}(a) {\n  return a + ${n}; // comment\n}\n\`\`\``,
    `| a | b | c |\n|---|--:|:-:|\n${'| x | 1 | y |\n'.repeat(6)}`,
    `The end of ${n}.`,
  ].join('\n\n');

function history(chatId) {
  const bodies = Array.from({ length: COUNT }, (_, n) => {
    const [turnId, parent] = [`t${n}`, n > 0 ? `t${n - 1}` : undefined];
    const message = (id, role, parts) => ({ id, chatId, turnId, role, parts, createdAt: n });
    return [
      {
        type: 'turnStarted',
        turnId,
        parent,
        message: message(`q${n}`, 'user', [{ type: 'text', text: `Question ${n}` }]),
      },
      { type: 'messageStarted', message: message(`a${n}`, 'assistant', []) },
      { type: 'messageFinished', messageId: `a${n}`, parts: [{ type: 'text', text: rich(n) }] },
      {
        type: 'turnFinished',
        turnId,
        outcome: { kind: 'done' },
        usage: { inputTokens: 0, outputTokens: 0 },
      },
    ];
  }).flat();
  const events = bodies.map((body, at) => ({ type: 'event', chatId, seq: at + 1, at, body }));
  return [...events, { type: 'caughtUp', chatId, seq: events.length }];
}

test('a long chat opens without blocking, and is drawn as it comes near', deadline, async (t) => {
  const { page } = await visit(t);
  const askedAfter = [];
  await page.routeWebSocket('**/api/ws', (socket) => {
    socket.onMessage((message) => {
      const { type, chatId, after } = JSON.parse(message);
      if (type !== 'subscribe') return;
      askedAfter.push(after);
      const frames = history(chatId).filter(({ type, seq }) => type !== 'event' || seq > after);
      for (const frame of frames) socket.send(JSON.stringify(frame));
    });
  });
  await page.addInitScript(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longTasks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
  });
  await page.goto(`${new URL(page.url()).origin}/#/c/long`);
  await page.reload();
  await page.getByText(`The end of ${COUNT - 1}.`).waitFor({ timeout: 40_000 });
  await page.locator('article').last().locator('.hljs-keyword').first().waitFor();
  const tasks = await page.evaluate(() => window.longTasks.map(Math.round));
  t.diagnostic(`long tasks: ${tasks.join(', ')} ms`);
  // Generous: a busy machine takes several times as long.
  assert.ok(Math.max(0, ...tasks) < 1000, `${Math.max(...tasks)} ms`);

  // Few are drawn; the words of all are there for the browser's search.
  const drawn = await page.locator('article table').count();
  assert.ok(drawn < 20, `${drawn} of ${COUNT} are drawn`);
  assert.ok(
    (await page.locator('.column').evaluate((e) => e.textContent)).includes('The end of 3.'),
  );
  const view = page.locator('.view');
  const untilEnd = () => view.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight);
  await eventually('the end', async () => (await untilEnd()) <= 1);

  // On the way up what is read stays where it is while what is above it is drawn.
  const jumps = await view.evaluate(async (view) => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const found = [];
    for (let step = 0; step < 40; step += 1) {
      const top = view.getBoundingClientRect().top;
      const articles = [...view.querySelectorAll('article')];
      const seen = articles.find((one) => one.getBoundingClientRect().bottom > top + 100);
      const before = seen.getBoundingClientRect().bottom;
      view.scrollBy(0, -300);
      for (let n = 0; n < 3; n += 1) await frame();
      const moved = seen.getBoundingClientRect().bottom - before;
      if (Math.abs(moved - 300) > 2) found.push(Math.round(moved));
    }
    return found;
  });
  assert.deepEqual(jumps, []);
  assert.ok((await page.locator('article table').count()) > drawn);

  // What was drawn keeps its height when it is far away again.
  const heights = () =>
    page.locator('article').evaluateAll((all) => all.map((one) => one.offsetHeight));
  await view.evaluate((view) => (view.scrollTop = view.scrollHeight));
  await eventually('the end', async () => (await untilEnd()) <= 1);
  const known = (await heights()).slice(-5);
  await view.evaluate((view) => (view.scrollTop -= 8000));
  await page.waitForTimeout(200);
  assert.deepEqual((await heights()).slice(-5), known);

  // Who comes back finds it at its end, without its being read again.
  await page.evaluate(() => (location.hash = '#/'));
  await page.locator('article').first().waitFor({ state: 'detached' });
  await page.evaluate(() => (location.hash = '#/c/long'));
  await page.getByText(`The end of ${COUNT - 1}.`).waitFor();
  await eventually('the end', async () => (await untilEnd()) <= 1);
  assert.equal(askedAfter.at(-1), 4 * COUNT);

  // On paper everything is drawn.
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.equal(await page.locator('article table').count(), COUNT);
});
