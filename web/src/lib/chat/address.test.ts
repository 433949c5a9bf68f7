import { expect, test } from 'vitest';
import { addressIn } from './address';

test.each([
  [{ url: 'https://Example.com/a?b=c#d' }, 'example.com', '/a?b=c'],
  [{ url: ' http://127.0.0.1:8000' }, '127.0.0.1:8000', '/'],
  [{ text: 'hi', link: 'https://a.org/x' }, 'a.org', '/x'],
  // Letters that look like others are shown as what they are.
  [{ url: 'https://exаmple.com/' }, 'xn--exmple-4nf.com', '/'],
  [{ url: 'https://good.org@evil.example/' }, 'evil.example', '/'],
])('the address in %j is told by its host', (input, host, rest) => {
  expect(addressIn(input)).toEqual({ host, rest });
});

test.each([
  {},
  null,
  [],
  'https://a.org/',
  { url: 'see https://a.org/' },
  { url: 'https://' },
  { n: 1 },
])('there is none in %j', (input) => {
  expect(addressIn(input)).toBeUndefined();
});
