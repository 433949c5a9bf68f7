// Real tool servers, as `tests/setup` installs them, on ports of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { closedPort } from './servers.js';

const root = new URL('../../../', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const peer = (relative) => path(`target/peers/${relative}`);

const START_MS = 30_000;
const running = new Set();

/** What Python has for everybody. It says no word about origins. */
export async function startFiles(folder) {
  const args = ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1', '--directory', folder];
  const [, port] = await start('/usr/bin/python3', args, /port (\d+)/);
  return `http://localhost:${port}`;
}

/** An mcpo with one server behind it. */
export async function startMcpo(...options) {
  const port = String(await closedPort());
  const listen = ['--host', '127.0.0.1', '--port', port];
  const behind = ['--', peer('venv-mcp/bin/mcp-server-time'), '--local-timezone=UTC'];
  const args = [peer('venv-mcpo/bin/mcpo'), ...listen, ...options, ...behind];
  await start(peer('venv-mcpo/bin/python'), args, /running on/);
  return `http://localhost:${port}`;
}

/** `sse` or `streamableHttp`, as it ships. */
export async function startEverything(transport) {
  const PORT = String(await closedPort());
  const program = peer('mcp/node_modules/.bin/mcp-server-everything');
  await start(program, [transport], /(running|listening) on port/, { PORT });
  return `http://localhost:${PORT}`;
}

/** MCP servers that differ in what they let a page do: `[{ transport, cors }]`. */
export async function startMcpServers(environment, wanted) {
  const args = [path('tests/peers/mcp/cors.py'), JSON.stringify(wanted)];
  const [urls] = await start(peer(`${environment}/bin/python`), args, /^\[.*\/(mcp|sse)"\]$/m);
  return JSON.parse(urls);
}

export async function stopPrograms() {
  await Promise.all([...running].map((stop) => stop()));
}

/** What it said when it was ready. */
function start(command, args, ready, environment = {}) {
  const env = { ...process.env, ...environment };
  const program = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  running.add(async () => {
    if (program.exitCode !== null || program.signalCode !== null) return;
    program.kill('SIGKILL');
    await once(program, 'exit');
  });
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (why) => reject(new Error(`${command} ${why}:\n${said}`));
    const timer = setTimeout(() => fail('did not say that it is ready'), START_MS);
    program.once('error', (error) => fail(String(error)));
    program.once('exit', (code) => fail(`ended with ${code}`));
    const hear = (data) => {
      said += data;
      const match = ready.exec(said);
      if (!match) return;
      clearTimeout(timer);
      resolve(match);
    };
    program.stdout.on('data', hear);
    program.stderr.on('data', hear);
  });
}
