// How fast the page is, each figure beside its target: the first load, an answer streamed in 10,000
// deltas, a chat of 2,000 messages, and a panel of 10,000 tools. `make bench` runs it.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { startBigServer } from './bigServer.js';
import { openBrowser, openPage } from './browser.js';
import { startScriptedModel } from './scriptedModel.js';
import { allTools, eventually, screen } from './screen.js';
import { Tenon } from './tenon.js';

const DELTAS = 10_000;
const TURNS = 1_000;
const LOADS = 5;
const LONG_CHATS = 5;
/** One kind of run only: `first`, `stream`, `long` or `panel`. */
const only = process.argv[2];

let missed = false;
const [tenon, browser] = await Promise.all([Tenon.start(), openBrowser()]);
const suite = { tell };
const provider = await startScriptedModel(suite);
try {
  if (!only || only === 'first') await firstLoad();
  if (!only || only === 'stream') await streamedAnswer();
  if (!only || only === 'long') await longChat();
  if (!only || only === 'panel') await bigPanel();
} finally {
  await browser.close();
  provider.stop();
  await tenon.stop();
}
process.exitCode = missed ? 1 : 0;

async function firstLoad() {
  const times = [];
  for (let load = 0; load < LOADS; load += 1) times.push((await loadPage()).interactive);
  report('first load, interactive', median(times), 1000);
  for (const locale of ['en-US', 'zh-CN']) {
    const { interactive, scripts } = await loadPage({ locale });
    const dist = new URL('../dist', import.meta.url).href;
    // What is loaded from then on keeps nobody waiting.
    const paths = scripts.filter(({ began }) => began < interactive).map(({ path }) => path);
    const sizes = [...new Set(paths)].map(
      (path) => gzipSync(readFileSync(new URL(dist + path)), { level: 9 }).length,
    );
    const kib = sizes.reduce((sum, size) => sum + size, 0) / 1024;
    report(`first load, JavaScript in ${locale}`, kib, 130, 'KiB gzip');
  }
}

/** When the page was interactive, and the scripts that it loaded. */
async function loadPage(options = {}) {
  const { page, context } = await openPage(browser, 'about:blank', { as: tenon, ...options });
  await page.addInitScript(() => {
    // Interactive: the field takes words, and the page has done what it does at the start.
    const watch = new MutationObserver(() => {
      if (!document.querySelector('textarea:not(:disabled)')) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => (window.interactive = performance.now())));
    });
    watch.observe(document, { childList: true, subtree: true });
  });
  await page.goto(tenon.url);
  const interactive = await value(page, 'interactive');
  // A script is listed when it is there, not when it is asked for.
  await page.waitForLoadState('networkidle');
  const scripts = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name, startTime }) => ({ path: new URL(name).pathname, began: startTime }))
      .filter(({ path }) => path.endsWith('.js')),
  );
  await context.close();
  return { interactive, scripts };
}

async function bigPanel() {
  const big = await startBigServer(10_000);
  const { id } = await tell('POST', '/sources', {
    kind: 'openapi',
    name: 'big',
    title: 'Big',
    url: `${big.url}/openapi.json`,
  });
  const isThere = async () => (await tell('GET', `/sources/${id}`)).tools === big.count;
  await eventually('its tools', isThere, 60_000);
  const { page, context } = await visit();
  await allTools(page).click();
  await page.getByRole('dialog').getByText(`${big.count} tools`).first().waitFor();
  report('10,000 tools: slowest keystroke', await page.evaluate(typeIntoFilter), 50);
  await context.close();
  await tell('DELETE', `/sources/${id}`);
  big.stop();
}

/** Runs in the page. */
async function typeIntoFilter() {
  const field = document.querySelector('dialog input[type=search]');
  const typed = ['o', 'op', 'operation 9', 'operation 99', 'operation 999', 'zzz', ''];
  const times = new Map(typed.map((text) => [text, []]));
  // What other programs take of the machine meanwhile is not the page's.
  for (let round = 0; round < 5; round++) {
    for (const text of typed) {
      const began = performance.now();
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      // The page is up to date before the browser paints.
      await Promise.resolve();
      document.body.getBoundingClientRect();
      times.get(text).push(performance.now() - began);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }
  }
  return Math.max(...[...times.values()].map((all) => Math.min(...all)));
}

async function streamedAnswer() {
  const text = Array.from({ length: 40 }, (_, n) => section(n)).join('\n\n');
  provider.says = text;
  provider.pace = { pieceChars: Math.ceil(text.length / DELTAS), atOnce: 10, pauseMs: 8 };
  const { page, context } = await visit();
  const ui = screen(page);
  // What is loaded on demand is loaded once, and is no part of the figure.
  await warm();
  await startFrames(page);
  await ui.ask('Tell me everything.');
  await page.evaluate(untilAnswered);
  const frames = await stopFrames(page);
  const told = await page.locator('.answer').last().innerText();
  if (!told.includes('The end of 39.')) throw new Error('the answer is not whole');
  const { pieceChars } = provider.pace;
  const deltas = Math.ceil(text.length / pieceChars);
  report(`${deltas} deltas, ${text.length} characters: longest frame`, Math.max(...frames), 50);
  note(`  p99 ${ms(percentile(frames, 0.99))}, p95 ${ms(percentile(frames, 0.95))}`);
  provider.says = undefined;
  await context.close();

  async function warm() {
    const whole = provider.says;
    provider.says = section(0);
    await ui.ask('Warm up.');
    await ui.answered();
    await page.locator('.hljs-keyword').first().waitFor();
    await page.locator('.katex').first().waitFor();
    provider.says = whole;
  }
}

async function longChat() {
  // Several that are the same: one that was open before is shown without being read again.
  const chats = [];
  for (let n = 0; n < LONG_CHATS; n += 1) chats.push((await importChat()).chatId);
  const { page, context } = await visit();
  const ui = screen(page);
  await ui.field.waitFor();
  // What draws Markdown, colours code and sets formulas is there before a chat is opened.
  provider.says = section(0);
  await ui.ask('Warm up.');
  await ui.answered();
  await page.locator('.hljs-keyword').first().waitFor();
  await page.locator('.katex').first().waitFor();
  const open = async (chatId) => {
    await page.evaluate(() => (location.hash = '#/'));
    await page.locator('article').first().waitFor({ state: 'detached' });
    return page.evaluate(openChat, { chatId, words: `The end of ${TURNS - 1}.` });
  };
  const opened = [];
  for (const chatId of chats) opened.push(await open(chatId));
  report(`${2 * TURNS} messages: until the end is shown`, median(opened), 300);
  note(`  again ${ms(await open(chats.at(-1)))}`);
  const frames = await page.evaluate(scrollUp, 400);
  report('  p95 frame while scrolling', percentile(frames, 0.95), 25);
  note(`  longest ${ms(Math.max(...frames))}, median ${ms(median(frames))}`);
  await context.close();
}

/** Runs in the page: opens a chat by its address, and waits until its last words are painted. */
function openChat({ chatId, words }) {
  const began = performance.now();
  location.hash = `#/c/${chatId}`;
  return new Promise((resolve) => {
    const look = () => {
      const view = document.querySelector('[data-scrolls]');
      const last = [...document.querySelectorAll('article')].at(-1);
      const parts = last?.querySelectorAll('.block, .code') ?? [];
      const end = parts[parts.length - 1];
      const box = end?.getBoundingClientRect();
      const seen = view?.getBoundingClientRect();
      const shown =
        end?.textContent.includes(words) && box.top >= seen.top && box.top < seen.bottom;
      if (!shown) return requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
    };
    look();
  });
}

/** Runs in the page: as a wheel that is turned fast. */
async function scrollUp(count) {
  const view = document.querySelector('[data-scrolls]');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const frames = [];
  let before = await frame();
  for (let step = 0; step < count; step += 1) {
    view.scrollBy(0, -120);
    const now = await frame();
    frames.push(now - before);
    before = now;
  }
  return frames;
}

/** Runs in the page: it is not looked at from outside meanwhile, which would take its time. */
function untilAnswered() {
  return new Promise((resolve) => {
    let began = false;
    const look = setInterval(() => {
      const runs = document.querySelector('.stop') !== null;
      began ||= runs;
      if (!began || runs) return;
      clearInterval(look);
      resolve();
    }, 100);
  });
}

function startFrames(page) {
  return page.evaluate(() => {
    window.frames_ = [];
    window.counting = true;
    let before = performance.now();
    const count = (now) => {
      window.frames_.push(now - before);
      before = now;
      if (window.counting) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
}

function stopFrames(page) {
  return page.evaluate(() => {
    window.counting = false;
    return window.frames_;
  });
}

async function visit() {
  const visit = await openPage(browser, tenon.url, { as: tenon });
  await visit.page.locator('main').waitFor();
  return visit;
}

/** A part of an answer with all that is costly: code, a table, formulas, lists. */
function section(n) {
  const code = Array.from(
    { length: 20 },
    (_, line) => `  const value${line} = compute(${n}, "${line}"); // step ${line}`,
  );
  const rows = Array.from(
    { length: 12 },
    (_, row) => `| item ${row} | ${row * 37} | **${n}** | \`code\` |`,
  );
  return [
    `## Part ${n}`,
    `Some **bold** words with \`code\` and \\(a_${n}^2\\), a [link](https://example.com/${n}). ${'A sentence that fills a line. '.repeat(6)}`,
    `- one\n- two\n  - three ${n}\n- code\n\n  \`\`\`bash\n  npm run part ${n}\n  \`\`\`\n- four`,
    `\`\`\`js\nfunction part${n}() {\n${code.join('\n')}\n}\n\`\`\``,
    `| name | number | part | code |\n|---|--:|:-:|---|\n${rows.join('\n')}`,
    `The end of ${n}.`,
  ].join('\n\n');
}

async function importChat() {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const turns = Array.from({ length: TURNS }, (_, n) => {
    const message = (id, role, text) => ({
      id,
      role,
      parts: [{ type: 'text', text }],
      toolCalls: [],
      createdAt: n,
    });
    return {
      id: `t${n}`,
      ...(n > 0 && { parent: `t${n - 1}` }),
      messages: [
        message(`q${n}`, 'user', `Question ${n}`),
        message(`a${n}`, 'assistant', section(n)),
      ],
      outcome: { kind: 'done' },
      usage,
    };
  });
  const { id } = await tell('POST', '/chats/import', {
    format: 'tenon.chat',
    version: 1,
    title: 'A long chat',
    createdAt: 0,
    turns,
    head: `t${TURNS - 1}`,
  });
  return { chatId: id };
}

async function tell(method, path, body) {
  const response = await tenon.fetch(`/api${path}`, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return text ? JSON.parse(text) : undefined;
}

async function value(page, name) {
  const handle = await page.waitForFunction((name) => window[name], name);
  return handle.jsonValue();
}

function report(what, figure, target, unit = 'ms') {
  const isMissed = figure > target;
  missed ||= isMissed;
  const told = `${figure.toFixed(1)} ${unit} (target ${target} ${unit})`;
  console.log(`${what}  ${told}${isMissed ? '  MISSED' : ''}`);
}

function note(text) {
  console.log(text);
}

function ms(value) {
  return `${value.toFixed(1)} ms`;
}

function median(values) {
  return percentile(values, 0.5);
}

function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
