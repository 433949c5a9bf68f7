// Real MCP and OpenAPI servers for the tests, as `tests/setup` installs them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const peers = new URL('../../target/peers/', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, peers));

export const memory = path('mcp/node_modules/.bin/mcp-server-memory');
export const everything = path('mcp/node_modules/.bin/mcp-server-everything');
/** Its interpreter and its script. */
export const fast = [
  path('venv-fastmcp/bin/python'),
  fileURLToPath(new URL('../../tests/peers/mcp/fast.py', import.meta.url)),
];
export const time = path('venv-mcp/bin/mcp-server-time');

const START_MS = 30_000;

/** A FastAPI app that says back what it read: where it answers, and how to end it. */
export function startFastapi() {
  const app = fileURLToPath(new URL('../../tests/peers/openapi/fast.py', import.meta.url));
  return startPeer(path('venv-fastapi/bin/python'), [app]);
}

/** An mcpo with these servers behind it, as its own configuration has them, that wants this key. */
export async function startMcpo(mcpServers, key) {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-mcpo-'));
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify({ mcpServers }));
  const listen = ['--host', '127.0.0.1', '--port', String(await freePort())];
  const args = [path('venv-mcpo/bin/mcpo'), ...listen, '--api-key', key, '--config', config];
  const peer = await startPeer(path('venv-mcpo/bin/python'), args);
  return {
    url: peer.url,
    stop: async () => {
      await peer.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** For one that cannot choose its port itself. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function startPeer(command, args) {
  const peer = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = new Promise((resolve) => peer.once('exit', resolve));
  const stop = async () => {
    peer.kill('SIGTERM');
    const timer = setTimeout(() => peer.kill('SIGKILL'), 5_000);
    await gone;
    clearTimeout(timer);
  };
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (why) => reject(new Error(`${command} ${why}:\n${said}`));
    const timer = setTimeout(() => {
      fail('did not say where it listens');
      void stop();
    }, START_MS);
    peer.once('error', (error) => fail(String(error)));
    peer.once('exit', (code) => fail(`ended with ${code}`));
    const hear = (data) => {
      said += data;
      const url = /running on (http:\/\/127\.0\.0\.1:[1-9]\d*)/.exec(said)?.[1];
      if (!url) return;
      clearTimeout(timer);
      resolve({ url, stop });
    };
    peer.stdout.on('data', hear);
    peer.stderr.on('data', hear);
  });
}
