// Certificates that nobody trusts.
import { execFileSync } from 'node:child_process';
import { createHash, createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For these names. `pin` makes a Chromium that is started with it trust this one alone. */
export function certificateFor(...names) {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-tls-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  const alternatives = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`;
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const about = ['-days', '2', '-subj', `/CN=${names[0]}`, '-addext', alternatives];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...kind, ...about, ...files], { stdio: 'pipe' });
  const made = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  const spki = createPublicKey(made.cert).export({ type: 'spki', format: 'der' });
  return { ...made, pin: createHash('sha256').update(spki).digest('base64') };
}
