// Real MCP and OpenAPI servers for the tests, as `tests/setup` installs them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binary } from './tenon.js';

const peers = new URL('../../target/peers/', import.meta.url);
export const path = (relative) => fileURLToPath(new URL(relative, peers));

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

/** An mcpo with these servers behind it, as its own configuration has them, that wants this key if
    any. */
export async function startMcpo(mcpServers, key) {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-mcpo-'));
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify({ mcpServers }));
  const listen = ['--host', '127.0.0.1', '--port', String(await freePort())];
  const keys = key ? ['--api-key', key] : [];
  const args = [path('venv-mcpo/bin/mcpo'), ...listen, ...keys, '--config', config];
  const peer = await startPeer(path('venv-mcpo/bin/python'), args);
  return {
    url: peer.url,
    stop: async () => {
      await peer.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** `tenon bridge` in the place of an mcpo, for pages of this origin. */
export async function startBridge(mcpServers, origin) {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-bridge-'));
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify({ mcpServers }));
  const options = ['--config', config, '--cors-allow-origins', origin];
  const peer = await startAt((port) => [binary, ['bridge', '--port', port, ...options]]);
  return {
    url: peer.url,
    stop: async () => {
      await peer.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An mcpo with a clock, for pages of this origin; on this port, if one is given. */
export function startClock(origin, at) {
  const mcpo = ['venv-mcpo/bin/mcpo', '--host', '127.0.0.1', '--cors-allow-origins', origin];
  return startAt(
    (port) => [
      path('venv-mcpo/bin/python'),
      [path(mcpo[0]), ...mcpo.slice(1), '--port', port, '--', time],
    ],
    at,
  );
}

/** A server of files, which knows nothing of tools nor of other sites. */
export function startFiles(at) {
  return startAt((port) => ['python3', ['-m', 'http.server', port, '--bind', '127.0.0.1']], at);
}

/** FastMCP over `http` or `sse`, for pages of this origin. */
export function startFast(transport, origin) {
  const [python, script] = fast;
  return startAt((port) => [python, [script, transport, port, origin]]);
}

/** The reference server over `streamableHttp` or `sse`. */
export function startEverything(transport) {
  return startAt((port) => [everything, [transport], { PORT: port }]);
}

/** One that is told its port: it is there when it can be connected to. */
async function startAt(how, at) {
  const port = at ?? (await freePort());
  const [command, args, environment] = how(String(port));
  const peer = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let said = '';
  peer.stdout.on('data', (data) => (said += data));
  peer.stderr.on('data', (data) => (said += data));
  const gone = new Promise((resolve) => peer.once('exit', resolve));
  const stop = async () => {
    peer.kill('SIGKILL');
    await gone;
  };
  const end = Date.now() + START_MS;
  while (!(await connects(port))) {
    if (peer.exitCode !== null || Date.now() > end) {
      await stop();
      throw new Error(`${command} ${args.join(' ')} does not listen:\n${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { port, url: `http://127.0.0.1:${port}`, stop };
}

function connects(port) {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });
}

/** For one that cannot choose its port itself. It is below those the kernel gives out to
    connections: one of these could have it before the server does. */
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 10_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
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
