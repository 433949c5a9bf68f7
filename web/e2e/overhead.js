// What a call of a local tool costs over the page's own bare fetch to the same server: both
// by turns, in one run. `make bench` runs it.
import { openBrowser, openPage } from './browser.js';
import { startCounter } from './counter.js';
import { lookAt, localTools } from './local.js';
import { eventually } from './screen.js';
import { Tenon } from './tenon.js';

const ROUNDS = 400;
const TARGET_MS = 15;

const [tenon, browser, counter] = await Promise.all([Tenon.start(), openBrowser(), startCounter()]);
try {
  const suite = { tell: async (_method, path) => (await tenon.fetch(`/api${path}`)).json() };
  const { page } = await openPage(browser, tenon.url, lookAt(counter.url, { as: tenon }));
  const ready = () => localTools(suite, counter.url, 'ready');
  await eventually('its tool', async () => (await ready()).length > 0, 30_000);
  const [{ toolId }] = await ready();
  const bare = [];
  const whole = [];
  for (let number = 0; number < ROUNDS; number += 1) {
    bare.push(await page.evaluate(fetched, { url: `${counter.url}/count`, number }));
    whole.push(await called(`/api/tools/${toolId}/call`, ROUNDS + number));
  }
  const [floor, cost] = [median(bare.slice(50)), median(whole.slice(50))];
  const over = cost - floor;
  const ms = (value) => `${value.toFixed(2)} ms`;
  console.log(
    `local call  ${ms(cost)}   bare fetch of the page  ${ms(floor)}   over it  ${ms(over)} (target ${TARGET_MS} ms)`,
  );
  process.exitCode = over <= TARGET_MS ? 0 : 1;
} finally {
  await browser.close();
  counter.stop();
  await tenon.stop();
}

async function fetched({ url, number }) {
  const began = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ number }),
  });
  await response.text();
  return performance.now() - began;
}

/** As a script sees it: with its own request to Tenon, which the page's fetch does not have. */
async function called(path, number) {
  const began = performance.now();
  const response = await tenon.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: { number } }),
  });
  const { ok, error } = await response.json();
  if (!ok) throw new Error(error.message);
  return performance.now() - began;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
