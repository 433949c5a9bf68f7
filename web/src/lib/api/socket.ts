// The one WebSocket of a page. It comes back by itself and subscribes again: to what changes for
// this user, and to the chats that are open, each from the last event that was seen.
import type { ChatId, ClientFrame, ServerFrame } from './types';

export type Connection = 'connecting' | 'open' | 'away';

export interface SocketListener {
  frame(frame: ServerFrame): void;
  connection(connection: Connection): void;
  /** The server would not have us, or no longer. A browser does not tell why it got no
      connection, so this may also mean that there is no server. */
  refused?(): void;
}

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 5_000;
/** A shorter absence is over before anyone could read about it. */
const AWAY_DELAY_MS = 1_000;
/** The server closes with this when the session behind a socket has ended. */
const CLOSE_LOGGED_OUT = 4401;
/** A socket may be dead without knowing it, after sleep above all: no answer within this, and it
    is. */
const PROBE_TIMEOUT_MS = 4_000;
/** Tells the server that this page comes again at once, and so keeps what it works on. */
const CLOSE_RELOADING = 4000;

export class Socket {
  #url: string;
  #listener: SocketListener;
  #socket?: WebSocket;
  /** The last event seen of each chat: asked at every (re)connect, because it moves on. */
  #subscriptions = new Map<ChatId, () => number>();
  #failures = 0;
  #retry?: ReturnType<typeof setTimeout>;
  #away?: ReturnType<typeof setTimeout>;
  #probe?: ReturnType<typeof setTimeout>;

  constructor(url: string, listener: SocketListener) {
    this.#url = url;
    this.#listener = listener;
  }

  /** Connects, and stays connected until the function it returns is called. */
  start(): () => void {
    const stopped = new AbortController();
    const wake = () => this.#wake();
    addEventListener('online', wake, stopped);
    addEventListener('offline', wake, stopped);
    document.addEventListener(
      'visibilitychange',
      () => document.visibilityState === 'visible' && wake(),
      stopped,
    );
    this.#failures = 0;
    this.#listener.connection('connecting');
    this.#lost();
    this.#connect();
    return () => {
      stopped.abort();
      this.#forget(1000);
      clearTimeout(this.#retry);
      clearTimeout(this.#away);
      this.#away = undefined;
    };
  }

  subscribe(chatId: ChatId, lastSeq: () => number): void {
    this.#subscriptions.set(chatId, lastSeq);
    this.resubscribe(chatId);
  }

  unsubscribe(chatId: ChatId): void {
    if (this.#subscriptions.delete(chatId)) this.send({ type: 'unsubscribe', chatId });
  }

  /** Whether a part of the page shows it. */
  follows(chatId: ChatId): boolean {
    return this.#subscriptions.has(chatId);
  }

  /** Asks again for everything after the last event seen. */
  resubscribe(chatId: ChatId): void {
    const lastSeq = this.#subscriptions.get(chatId);
    if (lastSeq) this.#ask({ type: 'subscribe', chatId, after: lastSeq(), batched: true });
  }

  /** The server always answers a subscription and a ping, so silence means a dead connection. */
  #ask(frame: ClientFrame): void {
    this.send(frame);
    clearTimeout(this.#probe);
    if (this.#isOpen) this.#probe = setTimeout(() => this.#reconnect(), PROBE_TIMEOUT_MS);
  }

  #connect(): void {
    clearTimeout(this.#retry);
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    let accepted = false;
    socket.onopen = () => {
      accepted = true;
      this.#failures = 0;
      clearTimeout(this.#away);
      this.#away = undefined;
      this.#listener.connection('open');
      this.#ask({ type: 'subscribe:user' });
      for (const chatId of this.#subscriptions.keys()) this.resubscribe(chatId);
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      clearTimeout(this.#probe);
      const frame = JSON.parse(data as string) as ServerFrame;
      // Nobody else need know that several came at once.
      if (frame.type !== 'events') this.#listener.frame(frame);
      else for (const event of frame.events) this.#listener.frame({ type: 'event', ...event });
    };
    socket.onclose = ({ code }) => {
      if (socket !== this.#socket) return;
      if (!accepted || code === CLOSE_LOGGED_OUT) this.#listener.refused?.();
      this.#lost();
      const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, MAX_DELAY_MS);
      this.#failures += 1;
      // Jitter, so that the pages of a restarted server do not all come back in the same instant.
      this.#retry = setTimeout(() => this.#connect(), delay * (0.75 + Math.random() * 0.5));
    };
  }

  #lost(): void {
    clearTimeout(this.#probe);
    this.#away ??= setTimeout(() => this.#listener.connection('away'), AWAY_DELAY_MS);
  }

  /** The network or the reader came back, or may have gone: find out at once. */
  #wake(): void {
    const state = this.#socket?.readyState;
    if (state === WebSocket.CONNECTING) return;
    if (state !== WebSocket.OPEN) return this.#connect();
    // A connection that answers has missed nothing.
    this.#ask({ type: 'ping' });
  }

  #reconnect(): void {
    this.#forget(CLOSE_RELOADING);
    this.#lost();
    this.#connect();
  }

  /** Closing a dead connection may take long, so nobody waits for it. */
  #forget(code: number): void {
    const socket = this.#socket;
    this.#socket = undefined;
    clearTimeout(this.#probe);
    socket?.close(code);
  }

  /** Nothing is kept for later: what has to be said again is said when the connection is back. */
  send(frame: ClientFrame): void {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(frame));
  }

  get #isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }
}
