// Many calls to a local tool, while the pages that make them are loaded again and again.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { startCounter } from './counter.js';
import { fixture } from './fixture.js';
import { lookAt, localTools } from './local.js';
import { eventually } from './screen.js';

/** `make torture` makes more. */
const CALLS = Number(process.env.TORTURE_CALLS ?? 150);
const AT_ONCE = 4;
/** The deadline of a call, and what a busy machine adds to it. */
const LATE_MS = 125_000;

const suite = fixture();

test('every call ends once, whatever happens to its page', { timeout: 300_000 }, async (t) => {
  const counter = await startCounter();
  t.after(() => counter.stop());
  const { page, context } = await suite.visit(t, lookAt(counter.url));
  const ready = () => localTools(suite, counter.url, 'ready');
  await eventually('its tool', async () => (await ready()).length > 0, 30_000);
  const [{ toolId }] = await ready();
  const second = await context.newPage();
  await second.goto(suite.tenon.url);

  const random = dice(20_261_115);
  const ends = { done: 0, failed: 0, cancelled: 0 };
  const why = new Map();
  let number = 0;
  let longest = 0;
  const call = async () => {
    const mine = (number += 1);
    const began = Date.now();
    // One in twenty is given up by whoever asked for it.
    const gone = random() < 0.05 ? AbortSignal.timeout(5 + Math.floor(random() * 40)) : undefined;
    const end = await made(toolId, { number: mine, ms: Math.floor(random() * 60) }, gone);
    longest = Math.max(longest, Date.now() - began);
    ends[end.how] += 1;
    if (end.how === 'failed') why.set(end.message, (why.get(end.message) ?? 0) + 1);
    const times = counter.counted.get(mine) ?? 0;
    assert.ok(times <= 1, `call ${mine} was made ${times} times`);
    if (end.how === 'done') assert.equal(times, 1, `call ${mine} was never made`);
  };
  const work = async () => {
    while (number < CALLS) await call();
  };
  const working = Promise.all(Array.from({ length: AT_ONCE }, work));
  let over = false;
  void working.catch(() => {}).finally(() => (over = true));
  let reloads = 0;
  while (!over) {
    const one = random() < 0.5 ? page : second;
    await new Promise((resolve) => setTimeout(resolve, 50 + random() * 400));
    if (over) break;
    await one.reload();
    reloads += 1;
  }
  await working;
  t.diagnostic(`${JSON.stringify(ends)}, ${reloads} reloads, the longest took ${longest} ms`);
  for (const [message, times] of why) t.diagnostic(`${times} times: ${message}`);
  assert.equal(ends.done + ends.failed + ends.cancelled, CALLS);
  assert.ok(ends.done > CALLS / 2, JSON.stringify(ends));
  assert.ok(reloads > 5);
  assert.ok(longest < LATE_MS, `one took ${longest} ms`);
  // Not even one that was given up is made twice, nor later.
  for (const [one, times] of counter.counted) {
    assert.equal(times, 1, `call ${one} was made ${times} times`);
  }
  // Nothing is left behind: the tool is there, and answers.
  await eventually('its tool', async () => (await ready()).length > 0, 30_000);
  const last = await made(toolId, { number: CALLS + 1 });
  assert.equal(last.how, 'done');
});

async function made(toolId, args, signal) {
  try {
    const response = await suite.tenon.fetch(`/api/tools/${toolId}/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: args }),
      signal,
    });
    const answer = await response.json();
    if (answer.ok) return { how: 'done' };
    return { how: 'failed', message: answer.error?.message ?? JSON.stringify(answer) };
  } catch (error) {
    if (signal?.aborted) return { how: 'cancelled' };
    throw error;
  }
}

/** The same throws every time (mulberry32). */
function dice(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
