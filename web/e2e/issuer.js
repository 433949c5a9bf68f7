// An OpenID Connect issuer that lets everybody in as whom the test says.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY_ID = 'key';

export class Issuer {
  url = '';
  /** Who comes next. */
  claims = { sub: '1', email: 'ada@example.com', name: 'Ada' };
  /** What was asked of it, in addresses. */
  asked = [];
  #server;
  #nonces = new Map();

  static async start() {
    const issuer = new Issuer();
    issuer.#server = createServer((request, response) => void issuer.#answer(request, response));
    await new Promise((resolve) => issuer.#server.listen(0, '127.0.0.1', resolve));
    issuer.url = `http://127.0.0.1:${issuer.#server.address().port}`;
    return issuer;
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request, response) {
    const url = new URL(request.url, this.url);
    const json = (value) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(value));
    };
    if (url.pathname === '/.well-known/openid-configuration') return json(this.#about());
    if (url.pathname === '/keys') {
      const key = publicKey.export({ format: 'jwk' });
      return json({ keys: [{ ...key, kid: KEY_ID, alg: 'RS256', use: 'sig' }] });
    }
    if (url.pathname === '/authorize') return this.#authorize(url, response);
    if (url.pathname === '/token') return json(await this.#token(request));
    response.statusCode = 404;
    response.end();
  }

  #about() {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
  }

  #authorize(url, response) {
    this.asked.push(url);
    const code = `code-${this.asked.length}`;
    this.#nonces.set(code, url.searchParams.get('nonce'));
    const back = new URL(url.searchParams.get('redirect_uri'));
    back.searchParams.set('code', code);
    back.searchParams.set('state', url.searchParams.get('state'));
    response.writeHead(302, { location: back.href });
    response.end();
  }

  async #token(request) {
    let body = '';
    for await (const piece of request) body += piece;
    const nonce = this.#nonces.get(new URLSearchParams(body).get('code'));
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...this.claims,
      email_verified: true,
      iss: this.url,
      aud: 'tenon',
      iat: now,
      exp: now + 600,
      nonce,
    };
    return {
      access_token: 'access',
      token_type: 'Bearer',
      id_token: signed({ alg: 'RS256', typ: 'JWT', kid: KEY_ID }, claims),
    };
  }
}

function signed(header, claims) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`;
}
