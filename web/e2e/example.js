// Runs an example of a document: its files in a folder of their own, its command beside them. Its
// port is replaced by a free one, and `https://tenon.example` by where the page under test is.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort, path } from './peers.js';
import { eventually } from './screen.js';

const START_MS = 60_000;

/** Where `mcpo`, `python` and what `npx` and `import` look for come from, instead of an
    installation. */
const surroundings = {
  mcpo: { bin: 'venv-mcpo/bin', modules: 'mcp/node_modules' },
  python: { bin: 'venv-fastmcp/bin' },
  node: { modules: 'openapi-express/node_modules' },
};

/** Starts it for a page of this origin: where it answers, and how to end it. */
export async function startExample({ files, command }, origin) {
  const port = await freePort();
  const here = (text) =>
    text.replaceAll('https://tenon.example', origin).replaceAll(/\b8000\b/g, String(port));
  const folder = await mkdtemp(join(tmpdir(), 'tenon-example-'));
  for (const { name, text } of files) await writeFile(join(folder, name), here(text));
  const { bin, modules } = surroundings[command.split(' ')[0]];
  if (modules) await symlink(path(modules), join(folder, 'node_modules'));
  const env = {
    ...process.env,
    PATH: [...(bin ? [path(bin)] : []), process.env.PATH].join(delimiter),
    // What is there is taken, and nothing is looked for elsewhere.
    npm_config_offline: 'true',
  };
  const server = await startProgram(['sh', '-c', `exec ${here(command)}`], port, {
    cwd: folder,
    env,
  });
  return {
    url: `http://localhost:${port}`,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a program that will listen there, and ends it with all that it has started. */
export async function startProgram([command, ...args], port, options) {
  const program = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  program.stdout.on('data', (data) => (said += data));
  program.stderr.on('data', (data) => (said += data));
  const gone = new Promise((resolve) => program.once('close', resolve));
  let ended;
  program.once('error', (error) => (ended = String(error)));
  program.once('exit', (code) => (ended ??= `ended with ${code}`));
  const signal = (name) => {
    try {
      process.kill(-program.pid, name);
    } catch {
      // Nobody is left.
    }
  };
  // A test that fails while it cleans up neither waits for it nor leaves it behind.
  process.once('exit', () => signal('SIGKILL'));
  for (const one of [program, program.stdout, program.stderr]) one.unref();
  const stop = async () => {
    signal('SIGTERM');
    const timer = setTimeout(() => signal('SIGKILL'), 5_000);
    await gone;
    clearTimeout(timer);
  };
  try {
    const isUp = async () => {
      if (ended) throw new Error(ended);
      return listens(port);
    };
    await eventually(`${command} ${args.join(' ')} listens`, isUp, START_MS);
  } catch (error) {
    await stop();
    throw new Error(`${error.message}:\n${said}`, { cause: error });
  }
  return { stop };
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
