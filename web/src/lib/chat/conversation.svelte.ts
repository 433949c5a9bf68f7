// The chat that is open: fed by the socket, shown by the page.
import type { ChatId, ServerFrame, TurnId } from '$lib/api/types';
import type { Socket } from '$lib/api/socket';
import { heardAt } from '$lib/clock';
import { emptyChat, runningTurn, type Chat } from './chat';
import { reduce } from './reduce';

/** A server that never agrees with itself must not be asked in a tight loop. */
const ASK_AGAIN_MS = 1_000;

export class Conversation {
  /** What the screen shows; absent until the history is complete. */
  chat = $state.raw<Chat>();
  /** Why there is nothing to show: the chat does not exist, or the server says why. */
  problem = $state.raw<{ missing: boolean; message: string }>();
  /** The message on its way to the server, shown until its turn has started. */
  sending = $state.raw<{ text: string; turnsBefore: number }>();
  /** The turn that was asked to stop and has not yet. */
  stopping = $state.raw<TurnId>();

  running = $derived(this.chat && runningTurn(this.chat));

  #socket: Socket;
  /** Ahead of `chat` by what arrived since the last paint. */
  #next?: Chat;
  #painting = false;
  #askedAt = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** The number of the last event taken in, which the screen may not show yet. */
  get seq(): number {
    return this.#next?.seq ?? 0;
  }

  open(id: ChatId): void {
    if (this.#next?.id === id) return;
    this.close();
    this.#next = emptyChat(id);
    this.#socket.subscribe(id, () => (this.#next?.id === id ? this.#next.seq : 0));
  }

  /** Opens a chat that was just made. It got its first message before it got a name. */
  begin(id: ChatId): void {
    const sending = this.sending;
    this.open(id);
    this.sending = sending;
  }

  close(): void {
    this.#socket.unsubscribe();
    this.#next = undefined;
    this.chat = undefined;
    this.problem = undefined;
    this.sending = undefined;
    this.stopping = undefined;
  }

  /** Shows a message before the server has it. The result takes it back. */
  announce(text: string): () => void {
    const sending = { text, turnsBefore: this.chat?.turns.length ?? 0 };
    this.sending = sending;
    return () => {
      if (this.sending === sending) this.sending = undefined;
    };
  }

  take(frame: ServerFrame): void {
    const before = this.#next;
    if (!before) return;
    if (frame.type === 'error') {
      if (frame.chatId !== before.id) return;
      this.problem = { missing: frame.error.code === 'not_found', message: frame.error.message };
      return;
    }
    if (frame.type === 'event' && before.caughtUp) heardAt(frame.at);
    this.#next = reduce(before, frame);
    if (this.#next.missed && !before.missed) this.#askAgain();
    if (this.#next !== before) this.#paint();
  }

  #askAgain(): void {
    const wait = Math.max(0, this.#askedAt + ASK_AGAIN_MS - Date.now());
    setTimeout(() => {
      this.#askedAt = Date.now();
      this.#socket.resubscribe();
    }, wait);
  }

  /** Once per frame of the screen, however many frames the socket brought. */
  #paint(): void {
    if (this.#painting) return;
    this.#painting = true;
    requestAnimationFrame(() => {
      this.#painting = false;
      // A history that is still being told would be seen rushing by.
      if (this.#next?.caughtUp) this.#show(this.#next);
    });
  }

  #show(chat: Chat): void {
    this.chat = chat;
    this.problem = undefined;
    if (this.sending && chat.turns.length > this.sending.turnsBefore) this.sending = undefined;
    if (this.stopping !== runningTurn(chat)?.id) this.stopping = undefined;
  }
}
