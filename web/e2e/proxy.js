// Reverse proxies with the configuration that a document gives. What has no place in such a
// document stands here: where the proxy keeps its own files, and that certificates are of the
// test's own making.
import { createHash, X509Certificate } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { startProgram } from './example.js';
import { freePort } from './peers.js';
import { eventually } from './screen.js';

export const NAME = 'tenon.example';

const kinds = {
  'tenon.conf': {
    main: ({ folder }) => `
      daemon off;
      pid ${folder}/nginx.pid;
      error_log stderr;
      events {}
      http {
        access_log off;
        client_body_temp_path ${folder}/body;
        proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/fastcgi;
        uwsgi_temp_path ${folder}/uwsgi;
        scgi_temp_path ${folder}/scgi;
        include tenon.conf;
      }`,
    command: ({ folder, main }) => ['nginx', '-e', 'stderr', '-p', folder, '-c', main],
    prepare: makeCertificate,
  },
  Caddyfile: {
    main: ({ folder, port }) => `
      {
        admin off
        local_certs
        skip_install_trust
        auto_https disable_redirects
        https_port ${port}
        storage file_system ${folder}/storage
      }
      import Caddyfile`,
    command: ({ main }) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', main],
    prepare: () => {},
  },
};

/** Starts it before this Tenon: the origin of its page, what a browser has to be told, and how to
    end it. */
export async function startProxy({ name, text }, tenonUrl) {
  const { main, command, prepare } = kinds[name];
  const folder = await mkdtemp(join(tmpdir(), 'tenon-proxy-'));
  const port = await freePort();
  const at = { folder, port, main: join(folder, 'main') };
  const here = text
    .replaceAll(/\b8366\b/g, new URL(tenonUrl).port)
    .replaceAll(/\b443\b/g, String(port));
  await writeFile(join(folder, name), here);
  await writeFile(at.main, main(at));
  await prepare(folder);
  const environment = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin`, HOME: folder };
  const proxy = await startProgram(command(at), port, { cwd: folder, env: environment });
  return {
    origin: `https://${NAME}:${port}`,
    // As if the page came from the internet; the tool servers are where they are.
    browserArgs: [
      `--host-resolver-rules=MAP ${NAME} 127.0.0.1`,
      `--ip-address-space-overrides=127.0.0.1:${port}=public`,
      `--ignore-certificate-errors-spki-list=${await shownKey(port)}`,
    ],
    stop: async () => {
      await proxy.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeCertificate(folder) {
  const files = ['-keyout', `${NAME}.key`, '-out', `${NAME}.pem`];
  const named = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...files, ...named];
  await promisify(execFile)('openssl', args, { cwd: folder });
}

/** The fingerprint of the proxy's key, once it has one: Caddy listens before it has a
    certificate. */
async function shownKey(port) {
  let shown;
  await eventually('the proxy shows a certificate', async () => {
    shown = await fingerprint(port).catch(() => undefined);
    return shown;
  });
  return shown;
}

/** Of the key that the proxy shows there, as Chromium wants it. */
function fingerprint(port) {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', servername: NAME, rejectUnauthorized: false };
    const socket = connect(options, () => {
      const { publicKey } = new X509Certificate(socket.getPeerCertificate().raw);
      socket.destroy();
      const key = publicKey.export({ type: 'spki', format: 'der' });
      resolve(createHash('sha256').update(key).digest('base64'));
    });
    socket.once('error', reject);
  });
}
