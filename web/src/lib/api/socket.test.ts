import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Socket, type Connection } from './socket';
import type { ServerFrame } from './types';

/** A socket whose other end is the test. */
class FakeWebSocket {
  static CONNECTING = 0;
  static OPEN = 1;
  static all: FakeWebSocket[] = [];
  static get last(): FakeWebSocket {
    return FakeWebSocket.all.at(-1) ?? expect.fail('no socket was opened');
  }

  readyState = 0;
  sent: unknown[] = [];
  onopen?: () => void;
  onclose?: (event: { code: number }) => void;
  onmessage?: (message: { data: string }) => void;

  constructor(readonly url: string) {
    FakeWebSocket.all.push(this);
  }
  send(data: string) {
    this.sent.push(JSON.parse(data));
  }
  close() {
    this.readyState = 3;
  }
  accept() {
    this.readyState = 1;
    this.onopen?.();
  }
  drop(code = 1006) {
    this.readyState = 3;
    this.onclose?.({ code });
  }
  say(frame: ServerFrame) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

let frames: ServerFrame[];
let connections: Connection[];
let refusals: number;
let stop: () => void;

function start(): Socket {
  frames = [];
  connections = [];
  refusals = 0;
  const socket = new Socket('ws://host/api/ws', {
    frame: (frame) => frames.push(frame),
    connection: (connection) => connections.push(connection),
    refused: () => (refusals += 1),
  });
  stop = socket.start();
  return socket;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', FakeWebSocket);
  FakeWebSocket.all = [];
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const follow = { type: 'subscribe:user' };

test('a chat asked for before the connection stands is subscribed to when it does', () => {
  start().subscribe('c1', () => 0);
  FakeWebSocket.last.accept();
  expect(FakeWebSocket.last.sent).toEqual([
    follow,
    { type: 'subscribe', chatId: 'c1', after: 0, batched: true },
  ]);
});

test('a lost connection comes back and asks for what it missed', () => {
  let seq = 0;
  start().subscribe('c1', () => seq);
  FakeWebSocket.last.accept();
  seq = 7;
  FakeWebSocket.last.drop();
  vi.advanceTimersByTime(400);
  expect(FakeWebSocket.all).toHaveLength(2);
  FakeWebSocket.last.accept();
  expect(FakeWebSocket.last.sent).toEqual([
    follow,
    { type: 'subscribe', chatId: 'c1', after: 7, batched: true },
  ]);
  expect(connections).toEqual(['connecting', 'open', 'open']);
});

test('the waits grow to five seconds and no further', () => {
  start();
  const waits: number[] = [];
  for (let attempt = 0; attempt < 9; attempt += 1) {
    FakeWebSocket.last.drop();
    const before = Date.now();
    vi.advanceTimersToNextTimer();
    if (FakeWebSocket.all.length < attempt + 2) vi.advanceTimersToNextTimer();
    waits.push(Date.now() - before);
  }
  expect(waits[0]).toBeGreaterThanOrEqual(225);
  expect(waits[0]).toBeLessThanOrEqual(375);
  expect(waits.at(-1)).toBeGreaterThanOrEqual(3750);
  expect(Math.max(...waits)).toBeLessThanOrEqual(6250);
});

test('only an absence of more than a second is told', () => {
  start();
  FakeWebSocket.last.accept();
  FakeWebSocket.last.drop();
  vi.advanceTimersByTime(400);
  FakeWebSocket.last.accept();
  vi.advanceTimersByTime(2000);
  expect(connections).not.toContain('away');
  FakeWebSocket.last.drop();
  vi.advanceTimersByTime(1100);
  expect(connections.at(-1)).toBe('away');
});

test('the network coming back ends the wait', () => {
  start();
  for (let attempt = 0; attempt < 6; attempt += 1) {
    FakeWebSocket.last.drop();
    vi.advanceTimersByTime(7000);
  }
  FakeWebSocket.last.drop();
  const before = FakeWebSocket.all.length;
  dispatchEvent(new Event('online'));
  expect(FakeWebSocket.all.length).toBeGreaterThan(before);
});

test('a connection that died unnoticed is found out and replaced', () => {
  start().subscribe('c1', () => 3);
  const dead = FakeWebSocket.last;
  dead.accept();
  dispatchEvent(new Event('online'));
  expect(dead.sent.slice(2)).toEqual([{ type: 'ping' }]);
  vi.advanceTimersByTime(4100);
  expect(FakeWebSocket.last).not.toBe(dead);
  FakeWebSocket.last.accept();
  expect(FakeWebSocket.last.sent).toEqual([
    follow,
    { type: 'subscribe', chatId: 'c1', after: 3, batched: true },
  ]);
});

test('a connection that answers is kept, and subscribes to nothing again', () => {
  start().subscribe('c1', () => 3);
  const socket = FakeWebSocket.last;
  socket.accept();
  socket.sent = [];
  for (const event of ['online', 'offline']) {
    dispatchEvent(new Event(event));
    socket.say({ type: 'pong' });
    vi.advanceTimersByTime(10_000);
  }
  document.dispatchEvent(new Event('visibilitychange'));
  socket.say({ type: 'pong' });
  vi.advanceTimersByTime(10_000);
  expect(FakeWebSocket.last).toBe(socket);
  expect(socket.sent).toEqual([{ type: 'ping' }, { type: 'ping' }, { type: 'ping' }]);
});

test('several chats are followed, each until it is left', () => {
  const socket = start();
  FakeWebSocket.last.accept();
  socket.subscribe('c1', () => 1);
  socket.subscribe('c2', () => 2);
  socket.unsubscribe('c1');
  socket.unsubscribe('c1');
  expect(FakeWebSocket.last.sent).toEqual([
    follow,
    { type: 'subscribe', chatId: 'c1', after: 1, batched: true },
    { type: 'subscribe', chatId: 'c2', after: 2, batched: true },
    { type: 'unsubscribe', chatId: 'c1' },
  ]);
  FakeWebSocket.last.drop();
  vi.advanceTimersByTime(400);
  FakeWebSocket.last.accept();
  expect(FakeWebSocket.last.sent).toEqual([
    follow,
    { type: 'subscribe', chatId: 'c2', after: 2, batched: true },
  ]);
});

test('a subscription that is not answered shows that the connection is dead', () => {
  const socket = start();
  const dead = FakeWebSocket.last;
  dead.accept();
  socket.subscribe('c1', () => 3);
  vi.advanceTimersByTime(4100);
  expect(FakeWebSocket.last).not.toBe(dead);
  FakeWebSocket.last.accept();
  expect(FakeWebSocket.last.sent).toEqual([
    follow,
    { type: 'subscribe', chatId: 'c1', after: 3, batched: true },
  ]);
});

test('a connection that was never had, or ended because a session did, is a refusal', () => {
  start();
  FakeWebSocket.last.drop();
  expect(refusals).toBe(1);
  vi.advanceTimersByTime(400);
  FakeWebSocket.last.accept();
  FakeWebSocket.last.drop();
  expect(refusals).toBe(1);
  vi.advanceTimersByTime(400);
  FakeWebSocket.last.accept();
  FakeWebSocket.last.drop(4401);
  expect(refusals).toBe(2);
});

test('a socket that was stopped does not come back until it is started', () => {
  const socket = start();
  FakeWebSocket.last.drop();
  stop();
  vi.advanceTimersByTime(60_000);
  expect(FakeWebSocket.all).toHaveLength(1);
  stop = socket.start();
  vi.advanceTimersByTime(1100);
  expect(connections.at(-1)).toBe('away');
  FakeWebSocket.last.accept();
  expect(connections.at(-1)).toBe('open');
});

test('events that came at once arrive one by one, in order', () => {
  start().subscribe('c1', () => 0);
  FakeWebSocket.last.accept();
  const events = [1, 2].map((seq) => ({
    chatId: 'c1',
    seq,
    at: seq,
    body: { type: 'chatTitled' as const, title: `Title ${seq}`, by: 'person' as const },
  }));
  FakeWebSocket.last.say({ type: 'events', chatId: 'c1', events });
  FakeWebSocket.last.say({ type: 'caughtUp', chatId: 'c1', seq: 2 });
  expect(frames).toEqual([
    ...events.map((event) => ({ type: 'event', ...event })),
    { type: 'caughtUp', chatId: 'c1', seq: 2 },
  ]);
});
