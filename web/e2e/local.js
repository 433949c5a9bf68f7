// A tool server on the machine that the browser runs on, as a page gets to know it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from './screen.js';

/** What a browser remembers that looks at this address and at no other. `key` goes in the header
    `Authorization`; `account` is whose page it is, where people log in. */
function remembering(url, { key, account }) {
  const kept = { endpoints: [{ url, name: '', kind: 'auto', enabled: true }] };
  if (key) kept.keys = { [url]: { header: 'Authorization', value: `Bearer ${key}` } };
  const whose = account ? `tenon.${account}.` : 'tenon.';
  const entries = Object.entries(kept);
  return {
    // It has been told which computer it is on: one of its own.
    'tenon.device': randomUUID(),
    ...Object.fromEntries(
      entries.map(([name, value]) => [`${whose}local.${name}`, JSON.stringify(value)]),
    ),
  };
}

/** How somebody visits whose browser looks at this address. */
export function lookAt(url, { key, account, ...options } = {}) {
  return { ...options, remembers: remembering(url, { key, account }) };
}

/** Has a page look at this address from the next time it is loaded. */
export async function useServer(page, url, options = {}) {
  await page.addInitScript(
    (remembers) => {
      for (const [name, value] of Object.entries(remembers)) localStorage.setItem(name, value);
    },
    remembering(url, options),
  );
}

/** The tools that a browser found at an address, in this state if one is given. */
export async function localTools(suite, url, state) {
  const tools = await suite.tell('GET', '/tools');
  const { origin } = new URL(url);
  return tools.filter(
    ({ source }) =>
      source.local &&
      new URL(source.local.url).origin === origin &&
      (!state || source.state === state),
  );
}

/** The tools at this address, or below it, by what their server calls them: once these are
    ready. */
export async function toolsAt(url, tell, ...names) {
  let ready = new Map();
  const look = async () => {
    const tools = await tell('GET', '/tools');
    const here = tools.filter(({ source }) => source.state === 'ready' && isAt(url, source));
    ready = new Map(here.map((tool) => [tool.toolName, tool]));
    return names.every((name) => ready.has(name));
  };
  await eventually(`${names} at ${url} are ready`, look, 20_000);
  for (const { runsOn } of ready.values()) assert.equal(runsOn, 'browser');
  return Object.fromEntries(ready);
}

function isAt(url, { local }) {
  return local?.url === url || local?.url.startsWith(`${url}/`);
}
