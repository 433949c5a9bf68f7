// Pages of Tenon at whatever address a case needs: a server that passes everything on to
// Tenon, but for the probe, which it has itself under the same policy.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const here = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

export async function startPages(tenon) {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-probe-'));
  await build({
    configFile: here('../../vite.config.ts'),
    root: here('.'),
    base: '/probe/',
    publicDir: false,
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true, rollupOptions: { input: here('probe.html') } },
  });
  const { headers } = await fetch(tenon.url);
  const policy = ['content-security-policy', 'cross-origin-opener-policy', 'referrer-policy'];
  const ours = policy.map((name) => [name, headers.get(name)]);
  const servers = [];

  const probe = async (path, response) => {
    const file = join(folder, normalize(path.slice('/probe'.length)));
    const body = await readFile(file).catch(() => undefined);
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(body ? 200 : 404, [...ours, ['content-type', type]].flat());
    response.end(body);
  };
  const target = new URL(tenon.url);
  const passOn = (request) => {
    const headers = { ...request.headers, host: target.host };
    if (headers.origin) headers.origin = target.origin;
    const { method, url: path } = request;
    return http.request({ host: target.hostname, port: target.port, method, path, headers });
  };

  return {
    /** Where it answers from now on. With a certificate it is https. */
    async listen(certificate) {
      const answer = (request, response) => {
        const { pathname } = new URL(request.url, 'http://page');
        if (pathname.startsWith('/probe/')) return void probe(pathname, response);
        const passed = passOn(request);
        passed.on('error', () => response.destroy());
        passed.on('response', (upstream) => {
          response.writeHead(upstream.statusCode, upstream.headers);
          upstream.pipe(response);
        });
        request.pipe(passed);
      };
      const server = certificate
        ? https.createServer(certificate, answer)
        : http.createServer(answer);
      server.on('upgrade', (request, socket) => {
        const passed = passOn(request);
        socket.on('error', () => passed.destroy());
        passed.on('error', () => socket.destroy());
        passed.on('upgrade', (upstream, far) => {
          const lines = upstream.rawHeaders.map((text, n) => (n % 2 ? `${text}\r\n` : `${text}: `));
          socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
          far.on('error', () => socket.destroy());
          far.pipe(socket).pipe(far);
        });
        passed.end();
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      servers.push(server);
      return server.address().port;
    },

    async stop() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
