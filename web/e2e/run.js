// Runs the browser tests: node e2e/run.js [FILE…]
// All files share one Chromium, since starting it takes longer than most tests. Each test has a
// browser context of its own.
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { launchSharedBrowser } from './browser.js';

const folder = fileURLToPath(new URL('.', import.meta.url));

async function allFiles() {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith('.test.js')).map((name) => join(folder, name));
}

/** Runs the files side by side. Returns those with a test that failed. */
async function failingFiles(files, concurrency) {
  const failing = new Set();
  const events = run({ files, concurrency, signal: interrupted.signal });
  events.on('test:fail', ({ file }) => failing.add(file));
  const report = events.compose(process.stdout.isTTY ? new spec() : tap);
  report.pipe(process.stdout, { end: false });
  await finished(report);
  return [...failing];
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interrupted.abort());

const named = process.argv.slice(2).map((file) => resolve(file));
const files = named.length > 0 ? named : await allFiles();
const browser = await launchSharedBrowser();
process.env.TENON_E2E_BROWSER = browser.wsEndpoint();
// Two more than there are cores, to keep them busy: a test waits about as much as it works.
let failing = await failingFiles(files, availableParallelism() + 2);
if (failing.length > 0 && !interrupted.signal.aborted) {
  // A deadline may be missed on a busy machine. What fails by itself as well is broken.
  console.log(`# again, one after another: ${failing.join(' ')}`);
  failing = await failingFiles(failing, 1);
}
await browser.close();
process.exit(failing.length > 0 || interrupted.signal.aborted ? 1 : 0);
