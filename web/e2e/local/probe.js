// The page's half of local tools without the page: what a test asks it to look at, it
// looks at as the real one does.
import { Socket } from '$lib/api/socket';
import { Local } from '$lib/local/local.svelte';

/** Tenon reads a document in less. */
const READ_MS = 3_000;

const local = new Local((frame) => socket.send(frame));
const socket = new Socket(`${location.origin.replace(/^http/, 'ws')}/api/ws`, {
  frame: (frame) => local.take(frame),
  connection: (connection) => connection === 'open' && local.connected(),
});
socket.start();
// A person would be asked which computer this is.
if (!local.computer.info) local.computer.name('Test computer');

const settled = (state) => state !== 'looking' && state !== 'waiting';

globalThis.probe = {
  local,

  /** Looks at this address alone, as if a person had clicked or as the page does by itself. */
  async look(endpoint, { clicked }) {
    const { url } = endpoint;
    this.only(endpoint);
    const pauses = longestPause();
    const began = performance.now();
    await (clicked ? local.lookAt(url) : local.look());
    const ms = Math.round(performance.now() - began);
    const pause = pauses();
    await this.read(url);
    return { ...this.status(url), ms, pause };
  },

  /** Looks at all of these at the same time: what is in the way of each. */
  async lookAtAll(endpoints) {
    this.only(...endpoints);
    const pauses = longestPause();
    const began = performance.now();
    await local.look();
    const ms = Math.round(performance.now() - began);
    const kinds = endpoints.map(({ url }) => local.checks.get(url)?.finding?.diagnosis?.kind);
    return { kinds, ms, pause: pauses() };
  },

  /** Forgets every other address. */
  only(...endpoints) {
    for (const { url } of local.endpoints.all) local.remove(url);
    for (const { url, kind = 'auto', key } of endpoints) {
      local.endpoints.put({ url, name: '', kind, enabled: true });
      local.endpoints.setKey(url, key && { header: 'authorization', value: `Bearer ${key}` });
    }
  },

  status(url) {
    const { state, diagnoses, tools } = local.statusOf(local.endpoints.enabled[0] ?? { url });
    return { state, diagnoses, tools };
  },

  /** What Tenon makes of what was found, it says a little later. */
  async read(url) {
    const end = performance.now() + READ_MS;
    const isRead = () => {
      const servers = local.checks.get(url)?.finding?.servers ?? [];
      return servers.every(({ hash }) => local.registrations.has(hash));
    };
    while (!isRead() && performance.now() < end) await pass(20);
  },

  /** Looks at every one of these ports, as after a click. */
  async scan(ports) {
    this.only();
    local.endpoints.setPorts(ports);
    const began = performance.now();
    await local.scan();
    const ms = Math.round(performance.now() - began);
    const found = local.scanned.map(({ url, finding }) => ({
      url,
      servers: finding.servers.length,
      diagnosis: finding.diagnosis?.kind,
    }));
    return { found, ms };
  },

  /** Resolves when a look at the address has come to something. */
  async settled(url) {
    while (!settled(this.status(url).state)) await pass(20);
    await this.read(url);
    return this.status(url);
  },
};

const pass = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Begins to watch how long the page does nothing else; tells it when called. */
function longestPause() {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  return () => {
    clearInterval(timer);
    return Math.round(longest);
  };
}
