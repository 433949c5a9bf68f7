// Runs the browser tests: node e2e/run.js [FILE…]
// All files share one Chromium, since starting it takes longer than most tests. Each test has a
// browser context of its own.
import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchSharedBrowser } from './browser.js';

const folder = fileURLToPath(new URL('.', import.meta.url));

async function allFiles() {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith('.test.js')).map((name) => join(folder, name));
}

const files = process.argv.length > 2 ? process.argv.slice(2) : await allFiles();
// One more than there are cores: a test waits about as much as it works.
const concurrency = `--test-concurrency=${availableParallelism() + 1}`;
const browser = await launchSharedBrowser();
const tests = spawn(process.execPath, ['--test', concurrency, ...files], {
  stdio: 'inherit',
  env: { ...process.env, TENON_E2E_BROWSER: browser.wsEndpoint() },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => tests.kill(signal));
tests.once('exit', (code) => {
  void browser.close().then(() => process.exit(code ?? 1));
});
