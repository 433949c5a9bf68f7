// What can be said about an address without a request.

/** Whether it is the machine that the page is shown on. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  );
}

/** Whether it is a machine nearby, as far as its name shows it. */
export function isNearby(hostname: string): boolean {
  return (
    /^10(\.\d{1,3}){3}$/.test(hostname) ||
    /^192\.168(\.\d{1,3}){2}$/.test(hostname) ||
    /^172\.(1[6-9]|2\d|3[01])(\.\d{1,3}){2}$/.test(hostname) ||
    /^169\.254(\.\d{1,3}){2}$/.test(hostname) ||
    /^\[f[cd]/i.test(hostname) ||
    /^\[fe80:/i.test(hostname) ||
    hostname.endsWith('.local')
  );
}

/** Whether a server there speaks SSE, as the first MCP servers did, by what its path is called. */
export function isSsePath({ pathname }: URL): boolean {
  return /\/sse\/?$/.test(pathname);
}

/** Ports that browsers block. */
const BLOCKED_PORTS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

export function isBlockedPort(url: URL): boolean {
  return BLOCKED_PORTS.has(Number(url.port));
}

/** Listening addresses, which cannot be connected to. */
const WILDCARD_HOSTS = ['0.0.0.0', '[::]'];

/** As a person wrote it, as an address; undefined where it is none, or none a page can ask. */
export function readAddress(text: string): URL | undefined {
  const written = text.trim();
  if (!written) return undefined;
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(written)
    ? written
    : /^\d{1,5}$/.test(written)
      ? `http://localhost:${written}`
      : `http://${written}`;
  try {
    const url = new URL(whole);
    if (WILDCARD_HOSTS.includes(url.hostname)) url.hostname = 'localhost';
    const isWeb = ['http:', 'https:'].includes(url.protocol) && url.hostname !== '';
    return isWeb && !url.username && !url.password ? url : undefined;
  } catch {
    return undefined;
  }
}

/** The same address, the same text. */
export function normalizedUrl(url: URL): string {
  const text = url.href.replace(/#.*$/, '');
  return url.pathname === '/' && !url.search ? url.origin : text;
}

/** The same for every spelling of one place: this machine has several host names, and a slash at
    the end means nothing. For comparing; what is asked is what was written. */
export function canonicalUrl(url: string): string {
  const place = new URL(url);
  // `tools.localhost` may well be another site of the same port.
  if (['127.0.0.1', '[::1]'].includes(place.hostname)) place.hostname = 'localhost';
  place.hash = '';
  place.pathname = place.pathname.replace(/(?<=.)\/+$/, '');
  return normalizedUrl(place);
}
