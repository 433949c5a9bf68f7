import { expect, test } from 'vitest';
import { href, parse, type Route } from './router.svelte';

test('a place and its address are two forms of the same', () => {
  const check = (hash: string, route: Route) => {
    expect(parse(hash)).toEqual(route);
    expect(href(route)).toBe(hash);
  };
  check('#/', { name: 'new' });
  check('#/c/abc', { name: 'chat', chatId: 'abc' });
  check('#/c/a%2Fb', { name: 'chat', chatId: 'a/b' });
});

test('an address that means nothing is a new chat', () => {
  for (const hash of ['', '#', '#/c/', '#/x/1', '#/c/a/b', '#/c/%']) {
    expect(parse(hash)).toEqual({ name: 'new' });
  }
});
