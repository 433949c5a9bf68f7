// Chromium on pages of Tenon at several kinds of addresses, and what such a page finds out
// about a server on this machine.
import { chromium } from 'playwright-core';
import { certificateFor } from './certificate.js';
import { startPages } from './pages.js';
import { belongTo } from '../browser.js';
import { Tenon } from '../tenon.js';

/** The one that all sites of this test are. */
let behind;

/** One Tenon by many names. */
export class Sites {
  /** `here` is this machine, `near` and `home` are nearby, and the others elsewhere. All but
      `here`, `near` and `plain` count as https. */
  urls = {};
  args = [];
  /** The one that this Chromium trusts. */
  certificate;
  tenon;
  #pages;

  static async start() {
    const sites = new Sites();
    sites.tenon = await Tenon.start();
    behind = sites.tenon;
    sites.#pages = await startPages(sites.tenon);
    const certificate = certificateFor('secure.example', 'home.example');
    sites.certificate = certificate;
    const here = await sites.#pages.listen();
    const near = await sites.#pages.listen();
    const plain = await sites.#pages.listen();
    const site = await sites.#pages.listen();
    const home = await sites.#pages.listen(certificate);
    const secure = await sites.#pages.listen(certificate);
    sites.urls = {
      here: `http://127.0.0.1:${here}`,
      near: `http://192.168.77.1:${near}`,
      home: `https://home.example:${home}`,
      plain: `http://plain.example:${plain}`,
      site: `http://site.example:${site}`,
      secure: `https://secure.example:${secure}`,
    };
    const names = ['*.example', '192.168.77.*'].map((name) => `MAP ${name} 127.0.0.1`);
    const spaces = [
      ...[near, home].map((port) => `127.0.0.1:${port}=local`),
      ...[plain, site, secure].map((port) => `127.0.0.1:${port}=public`),
    ];
    sites.args = [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      `--host-resolver-rules=${names.join(', ')}`,
      `--ip-address-space-overrides=${spaces.join(',')}`,
      `--unsafely-treat-insecure-origin-as-secure=${sites.urls.site}`,
      `--ignore-certificate-errors-spki-list=${certificate.pin}`,
    ];
    return sites;
  }

  openBrowser(options = {}) {
    const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
    return chromium.launch({ executablePath, args: this.args, ...options });
  }

  async stop() {
    await this.#pages?.stop();
    await this.tenon?.stop();
  }
}

/** A page with nothing remembered at one of the sites. */
export async function openSite(browser, url, { granted, denied, clock } = {}) {
  const context = await browser.newContext(
    granted ? { permissions: ['local-network-access'] } : {},
  );
  await belongTo(context, behind, url);
  const page = await context.newPage();
  if (denied) await deny(context, page, url);
  if (clock) await page.clock.install();
  await page.goto(`${url}/probe/probe.html`);
  await page.waitForFunction(() => 'probe' in globalThis);
  return page;
}

async function deny(context, page, origin) {
  const session = await context.newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  const { browserContextId } = targetInfo;
  for (const name of ['loopback-network', 'local-network']) {
    const no = { permission: { name }, setting: 'denied', origin, browserContextId };
    await session.send('Browser.setPermission', no);
  }
}

/** How an address stands after the page has looked at it: what is in the way, how many tools
    there are, and how long it took. */
export async function diagnosisOf(page, endpoint, { clicked = true } = {}) {
  const asked = typeof endpoint === 'string' ? { url: endpoint } : endpoint;
  const seen = await page.evaluate(
    ([asked, clicked]) => globalThis.probe.look(asked, { clicked }),
    [asked, clicked],
  );
  const [first] = seen.diagnoses;
  return { ...seen, diagnosis: first?.diagnosis, at: first?.name };
}
