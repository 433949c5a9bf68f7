import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { toasts } from '$lib/ui/toasts.svelte';
import { Attention, LONG_TURN_MS } from './attention.svelte';

interface Shown {
  body: string;
  tag: string;
  onclick?: () => void;
}

let shown: Shown[];
let granted: NotificationPermission;
let away: boolean;

beforeEach(() => {
  [shown, granted, away] = [[], 'granted', true];
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal(
    'Notification',
    class {
      static get permission() {
        return granted;
      }
      static requestPermission = () => Promise.resolve((granted = 'granted'));
      onclick?: () => void;
      close = () => {};
      constructor(_title: string, { body, tag }: Shown) {
        shown.push(Object.assign(this, { body, tag }));
      }
    },
  );
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() =>
    away ? 'hidden' : 'visible',
  );
  vi.spyOn(document, 'hasFocus').mockImplementation(() => !away);
  vi.useFakeTimers();
  localStorage.clear();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  toasts.shown = [];
});

const chat = (change: object = {}) => ({ id: 'c1', title: 'Launch', asking: false, ...change });
const running = chat({ running: 't1' });

test('an answer that becomes ready in the background is told and counted', async () => {
  const attention = new Attention();
  await attention.use(true);
  attention.take(running);
  attention.take(running);
  expect(shown).toEqual([]);
  attention.take(chat());
  attention.take(chat());
  expect(shown.map(({ body }) => body)).toEqual(['The answer in “Launch” is ready.']);
  expect([...attention.unseen]).toEqual(['c1']);
  shown[0]?.onclick?.();
  expect(location.hash).toBe('#/c/c1');
  attention.seen();
  expect(attention.unseen.size).toBe(0);
});

test('a call that waits for an answer is told', async () => {
  const attention = new Attention();
  await attention.use(true);
  attention.take(running);
  attention.take({ ...running, asking: true });
  attention.take({ ...running, asking: true });
  expect(shown.map(({ body }) => body)).toEqual(['“Launch” is waiting for you.']);
});

test('who looks at the page, or wants none, is not notified', async () => {
  const attention = new Attention();
  attention.take(running);
  attention.take(chat());
  await attention.use(true);
  away = false;
  attention.take(running);
  attention.take(chat());
  expect(shown).toEqual([]);
});

test('a chat that this page has not seen running tells nothing', async () => {
  const attention = new Attention();
  await attention.use(true);
  attention.take(chat());
  expect([shown, attention.unseen.size]).toEqual([[], 0]);
});

test('what the browser forbids cannot be switched on', async () => {
  const attention = new Attention();
  granted = 'denied';
  expect(await attention.use(true)).toBe(false);
  expect(localStorage.getItem('tenon.notifications')).toBe(null);
});

test('after the first long turn it is offered, once', () => {
  granted = 'default';
  const attention = new Attention();
  const turn = (lengthMs: number) => {
    attention.take(running);
    vi.advanceTimersByTime(lengthMs);
    attention.take(chat());
  };
  turn(LONG_TURN_MS - 1);
  expect(toasts.shown).toEqual([]);
  turn(LONG_TURN_MS);
  expect(toasts.shown.map(({ action }) => action?.label)).toEqual(['Notify me']);
  toasts.shown = [];
  turn(LONG_TURN_MS);
  expect(toasts.shown).toEqual([]);
});
