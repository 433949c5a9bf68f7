import { afterEach, expect, test } from 'vitest';
import { imageHost, imageHosts } from './imageHosts.svelte';

afterEach(() => localStorage.clear());

test('a picture is shown when it or its host was asked for', () => {
  const [one, other] = ['https://a.example/1.png', 'https://a.example/2.png'];
  expect(imageHosts.isShown(one)).toBe(false);
  imageHosts.ask(one);
  expect([imageHosts.isShown(one), imageHosts.isShown(other)]).toEqual([true, false]);
  imageHosts.trust('a.example');
  expect(imageHosts.isShown(other)).toBe(true);
  expect(imageHosts.isShown('https://b.a.example/2.png')).toBe(false);
  expect(imageHosts.isShown('https://a.example:8443/2.png')).toBe(false);
  imageHosts.distrust('a.example');
  expect(imageHosts.isShown(other)).toBe(false);
});

test('the host is what the browser would go to', () => {
  expect(imageHost('https://trusted.example@evil.example/a')).toBe('evil.example');
  expect(imageHost('https://A.Example:444/a')).toBe('a.example:444');
  expect(imageHost('nothing')).toBe('');
});
