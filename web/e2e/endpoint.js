// A tool server on the machine that the browser runs on, as a page gets to know it.
import assert from 'node:assert/strict';
import { eventually } from './screen.js';

/**
 * Has the page look at this address from the next time it is loaded, and at no other.
 * `key` goes in the header `Authorization`; `account` is whose page it is, where people log in.
 */
export async function useServer(page, url, { key, account } = {}) {
  const kept = { endpoints: [{ url, name: '', kind: 'auto', enabled: true }] };
  if (key) kept.keys = { [url]: { header: 'Authorization', value: `Bearer ${key}` } };
  const entries = Object.entries(kept).map(([name, value]) => [
    `tenon.${account ? `${account}.` : ''}local.${name}`,
    JSON.stringify(value),
  ]);
  await page.addInitScript((entries) => {
    for (const [name, value] of entries) localStorage.setItem(name, value);
  }, entries);
}

/** The tools at this address, or below it, by what their server calls them: once these are ready. */
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
