import { expect, test } from 'vitest';
import type { ServerWithTools } from './discover';
import { Offers, type FoundServers } from './offers';

const mcp = (url: string): ServerWithTools => ({
  url,
  name: '',
  title: 'Echo',
  via: 'mcp',
  hash: 'h',
  offered: { type: 'mcp', tools: [] },
});
const openapi = (url: string, document: string, name = ''): ServerWithTools => ({
  ...mcp(url),
  name,
  via: 'openapi',
  offered: { type: 'openapi', document: '{}', url: document },
});
const found = (url: string, ...servers: ServerWithTools[]): FoundServers => ({ url, servers });
const urls = (all: FoundServers[]) => new Offers(all).servers.map(({ url }) => url);

test('a server is offered once, however its address is spelled', () => {
  const port = found('http://localhost:8101', mcp('http://localhost:8101/mcp'));
  const spelled = found('http://127.0.0.1:8101/mcp', mcp('http://127.0.0.1:8101/mcp'));
  const slash = found('http://localhost:8101/mcp/', mcp('http://localhost:8101/mcp/'));
  expect(urls([port, spelled, slash])).toEqual(['http://localhost:8101/mcp']);
  expect(urls([spelled, port])).toEqual(['http://127.0.0.1:8101/mcp']);
  const offers = new Offers([port, spelled]);
  expect(offers.sameAs(spelled)).toBe(port.url);
  expect(offers.sameAs(port)).toBeUndefined();
  expect([offers.by(port).length, offers.by(spelled).length]).toEqual([1, 0]);
});

test('the address that has the key of a server offers it', () => {
  const port = found('http://localhost:8101', mcp('http://localhost:8101/mcp'));
  const spelled = found('http://127.0.0.1:8101/mcp', mcp('http://127.0.0.1:8101/mcp'));
  expect(urls([port, { ...spelled, hasKey: true }])).toEqual(['http://127.0.0.1:8101/mcp']);
  // A key beside it is not one for it.
  expect(urls([spelled, { ...port, hasKey: true }])).toEqual(['http://127.0.0.1:8101/mcp']);
});

test('a document is the same server wherever it was asked for', () => {
  const whole = found(
    'http://localhost:8000',
    openapi('http://localhost:8000', 'http://localhost:8000/time/openapi.json', 'time'),
    openapi('http://localhost:8000', 'http://localhost:8000/notes/openapi.json', 'notes'),
  );
  const one = found(
    'http://localhost:8000/time',
    openapi('http://localhost:8000/time', 'http://127.0.0.1:8000/time/openapi.json'),
  );
  const offers = new Offers([whole, one]);
  expect(offers.servers.map(({ name }) => name)).toEqual(['time', 'notes']);
  expect(offers.sameAs(one)).toBe(whole.url);
  // Only a part of it is elsewhere.
  expect(new Offers([one, whole]).sameAs(whole)).toBeUndefined();
});

test('servers that only look alike are several', () => {
  const all = [
    found('http://localhost:1', mcp('http://localhost:1/mcp')),
    found('http://localhost:2', mcp('http://localhost:2/mcp')),
    found('https://localhost:1', mcp('https://localhost:1/mcp')),
  ];
  expect(urls(all)).toHaveLength(3);
  expect(new Offers(all).sameAs(found('http://localhost:3'))).toBeUndefined();
});
