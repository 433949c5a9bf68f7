// Stands in front of a server and sees who connects to it: which process has the other end.
import { createConnection, createServer } from 'node:net';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Passes everything on to this port. */
export async function recordingProxy(port) {
  const seen = [];
  const open = new Set();
  let sent = '';
  const server = createServer(async (near) => {
    near.on('error', () => {});
    near.pause();
    open.add(near);
    // It is there as long as nobody answers.
    seen.push(await ownerOf(near.remotePort));
    const far = createConnection(port, '127.0.0.1');
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
    far.on('close', () => {
      open.delete(near);
      near.destroy();
    });
    near.on('data', (data) => (sent += data.toString('latin1')));
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: server.address().port,
    /** The names and ids of the processes that connected. */
    seen,
    /** How often these words were passed on. */
    countSent: (words) => sent.split(words).length - 1,
    stop() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

async function ownerOf(port) {
  const inode = await inodeOf(port);
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const file of files) {
      const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => '');
      if (target !== `socket:[${inode}]`) continue;
      return { pid: Number(pid), name: (await readFile(`/proc/${pid}/comm`, 'utf8')).trim() };
    }
  }
  return undefined;
}

async function inodeOf(port) {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(table, 'utf8')).split('\n')) {
      const [, local, , , , , , , , inode] = line.trim().split(/\s+/);
      if (local?.endsWith(`:${hex}`) && inode !== '0') return inode;
    }
  }
  return undefined;
}
