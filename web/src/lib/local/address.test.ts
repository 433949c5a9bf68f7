import { expect, test } from 'vitest';
import {
  canonicalUrl,
  isBlockedPort,
  isLoopback,
  isNearby,
  normalizedUrl,
  readAddress,
} from './address';

const read = (text: string) => {
  const url = readAddress(text);
  return url && normalizedUrl(url);
};

test.each([
  ['8000', 'http://localhost:8000'],
  [' localhost:8000/ ', 'http://localhost:8000'],
  ['localhost:8000/mcp', 'http://localhost:8000/mcp'],
  ['https://localhost:8443/a/?key=1#top', 'https://localhost:8443/a/?key=1'],
  ['HTTP://LOCALHOST:80', 'http://localhost'],
  ['127.0.0.1:3001/sse', 'http://127.0.0.1:3001/sse'],
  ['[::1]:8000', 'http://[::1]:8000'],
  // As servers print it.
  ['http://0.0.0.0:8000', 'http://localhost:8000'],
  ['http://[::]:8000/mcp', 'http://localhost:8000/mcp'],
  ['', undefined],
  ['99999', undefined],
  ['ftp://localhost', undefined],
  ['file:///etc/passwd', undefined],
  ['javascript:alert(1)', undefined],
  ['http://', undefined],
  ['two words', undefined],
  // No page may ask such a one.
  ['http://ada:lovelace@localhost:8000', undefined],
])('%j is the address %s', (text, url) => {
  expect(read(text)).toBe(url);
});

test.each([
  ['localhost', 'here'],
  ['tools.localhost', 'here'],
  ['127.0.0.1', 'here'],
  ['127.1.2.3', 'here'],
  ['[::1]', 'here'],
  ['192.168.1.7', 'nearby'],
  ['10.0.0.1', 'nearby'],
  ['172.16.0.1', 'nearby'],
  ['172.31.255.1', 'nearby'],
  ['169.254.1.1', 'nearby'],
  ['[fd12::1]', 'nearby'],
  ['[fe80::1]', 'nearby'],
  ['printer.local', 'nearby'],
  ['172.32.0.1', 'elsewhere'],
  ['8.8.8.8', 'elsewhere'],
  ['localhost.example', 'elsewhere'],
  ['mylocalhost', 'elsewhere'],
  ['127.0.0.1.example', 'elsewhere'],
  ['[2001:db8::1]', 'elsewhere'],
])('%s is %s', (hostname, where) => {
  const found = isLoopback(hostname) ? 'here' : isNearby(hostname) ? 'nearby' : 'elsewhere';
  expect(found).toBe(where);
});

test.each([
  ['http://localhost:6000', true],
  ['http://localhost:10080', true],
  ['http://localhost:8000', false],
  ['http://localhost', false],
])('whether the port of %s is blocked: %s', (url, blocked) => {
  expect(isBlockedPort(new URL(url))).toBe(blocked);
});

test.each([
  ['http://127.0.0.1:8101/mcp', 'http://localhost:8101/mcp'],
  ['http://localhost:8101/mcp/', 'http://localhost:8101/mcp'],
  ['http://[::1]:8101/', 'http://localhost:8101'],
  ['http://localhost:8101', 'http://localhost:8101'],
  ['http://localhost:8101/?key=1', 'http://localhost:8101/?key=1'],
  ['https://127.0.0.1:8101', 'https://localhost:8101'],
  ['http://tools.localhost:8101', 'http://tools.localhost:8101'],
  ['http://192.168.1.7:8101/', 'http://192.168.1.7:8101'],
])('%s is the place %s', (url, place) => {
  expect(canonicalUrl(url)).toBe(place);
});
