import { afterEach, expect, test } from 'vitest';
import { toasts } from '$lib/ui/toasts.svelte';
import { reportMissingParts } from './missingParts';

function fail(name: string, fields: object): Event {
  const event = Object.assign(new Event(name, { cancelable: true }), fields);
  window.dispatchEvent(event);
  return event;
}

reportMissingParts();
afterEach(() => toasts.shown.forEach(({ id }) => toasts.dismiss(id)));

test('a part that cannot be loaded is reported where no component reports it', () => {
  const error = new Error('Unable to preload CSS');
  fail('vite:preloadError', { payload: error });
  expect(toasts.shown).toEqual([]);
  expect(fail('unhandledrejection', { reason: error }).defaultPrevented).toBe(true);
  expect(toasts.shown.map(({ action }) => action?.label)).toEqual(['Reload']);
});

test('other errors stay errors', () => {
  expect(fail('unhandledrejection', { reason: new Error('a bug') }).defaultPrevented).toBe(false);
  expect(fail('unhandledrejection', { reason: 'a text' }).defaultPrevented).toBe(false);
  expect(toasts.shown).toEqual([]);
});
