// The service worker: an offline shell and nothing more. It keeps the page of this build, so that a
// server that is away shows Tenon's own words instead of the browser's. It never touches the API,
// other paths, or anything that is not a plain GET; and the page itself comes from the network
// whenever there is one, so that a new build is used at once.
/* global __SHELL__ */

/** Of this build alone: another one has another name, and deletes this. */
const CACHE = 'tenon-__BUILD__';

/** What the first visit needs. */
const SHELL = __SHELL__;

/** A proxy that cannot reach Tenon answers with one of these. */
const AWAY = [502, 503, 504];

self.addEventListener('install', (event) => {
  self.skipWaiting();
  event.waitUntil(fill());
});

self.addEventListener('activate', (event) => {
  event.waitUntil(takeOver());
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin) return;
  if (request.mode === 'navigate') {
    if (url.pathname === '/') event.respondWith(page(request));
  } else if (url.pathname.startsWith('/assets/')) {
    event.respondWith(asset(request));
  } else if (SHELL.includes(url.pathname)) {
    event.respondWith(freshOrKept(request, url.pathname));
  }
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.chatId));
});

async function fill() {
  const cache = await caches.open(CACHE);
  await cache.addAll(SHELL.map((path) => new Request(path, { cache: 'reload' })));
}

async function takeOver() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith('tenon-') && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

function page(request) {
  return freshOrKept(request, '/');
}

/** From the network; kept only where that has no answer. */
async function freshOrKept(request, path) {
  try {
    const response = await fetch(request);
    if (!AWAY.includes(response.status)) return response;
    return (await kept(path)) ?? response;
  } catch (error) {
    const response = await kept(path);
    if (response) return response;
    throw error;
  }
}

/** Their names hold a hash of their content: what is kept is what would be fetched. */
async function asset(request) {
  const cache = await caches.open(CACHE);
  const found = await cache.match(request, { ignoreVary: true });
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone()).catch(() => {});
  return response;
}

async function kept(path) {
  const cache = await caches.open(CACHE);
  return cache.match(path, { ignoreVary: true });
}

/** Shows a chat in a tab that is open, or in a new one. */
async function open(chatId) {
  const place = chatId ? `/#/c/${encodeURIComponent(chatId)}` : '/';
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const tab = tabs.find(({ url }) => new URL(url).pathname === '/');
  if (!tab) return self.clients.openWindow(place);
  if (chatId) tab.postMessage({ type: 'open', chatId });
  return tab.focus();
}
