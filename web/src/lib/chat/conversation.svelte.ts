// The chat that is open: fed by the socket, shown by the page.
import type { ChatId, ErrorDetail, AttachedFile, ServerFrame, TurnId } from '$lib/api/types';
import type { Socket } from '$lib/api/socket';
import { syncServerClock } from '$lib/clock';
import { DrawPacer } from '$lib/drawPacer';
import { awaitingCall, emptyChat, runningTurn, shownTurns, type Chat } from './chat';
import { RecentChats } from './recentChats';
import { reduce } from './reduce';

/** A server that never agrees with itself must not be asked in a tight loop. */
const RESYNC_DELAY_MS = 1_000;

/** How long a server that could not read the chat gets until it is asked again. */
const PROBLEM_RETRY_DELAY_MS = 5_000;

interface Sending {
  text: string;
  files?: readonly AttachedFile[];
  turnId: TurnId;
  /** The turn whose place it takes. */
  replaces?: TurnId;
}

export class Conversation {
  /** What the screen shows; absent until the history is complete, or was before. */
  chat = $state.raw<Chat>();
  /** Why there is nothing to show: the chat does not exist, or the server says why. */
  problem = $state.raw<{ missing: boolean; error: ErrorDetail }>();
  /** The message on its way to the server, shown until its turn has started. */
  sending = $state.raw<Sending>();
  /** The turn that was asked to stop and has not yet. */
  stopping = $state.raw<TurnId>();

  running = $derived(this.chat && runningTurn(this.chat));
  /** The call that waits for a person. */
  asking = $derived(this.chat && awaitingCall(this.chat));
  /** The branch on show, up to the place where a message is on its way to. */
  turns = $derived.by(() => {
    const shown = this.chat ? shownTurns(this.chat) : [];
    const index = shown.findIndex((turn) => turn.id === this.sending?.replaces);
    return index < 0 ? shown : shown.slice(0, index);
  });

  #socket: Socket;
  /** Ahead of `chat` by what arrived since the last paint. */
  #next?: Chat;
  #pacer = new DrawPacer();
  #recent = new RecentChats();
  #askedAt = 0;
  #retry?: ReturnType<typeof setTimeout>;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** The turn that runs as far as frames tell, which may be ahead of the screen. */
  get latestRunning(): TurnId | undefined {
    return this.#next && runningTurn(this.#next)?.id;
  }

  open(id: ChatId): void {
    if (this.#next?.id === id) return;
    this.close();
    const known = this.#recent.get(id);
    // The list of turns is changed in place until the history is complete.
    this.#next = known ? { ...known, turns: [...known.turns], caughtUp: false } : emptyChat(id);
    this.chat = known;
    // How long the one before took says nothing about this one.
    this.#pacer = new DrawPacer();
    this.#socket.subscribe(id, () => (this.#next?.id === id ? this.#next.seq : 0));
  }

  /** Opens a chat that was just made. It got its first message before it got a name. */
  begin(id: ChatId): void {
    const sending = this.sending;
    this.open(id);
    this.sending = sending;
  }

  close(): void {
    clearTimeout(this.#retry);
    if (this.#next) {
      this.#socket.unsubscribe(this.#next.id);
      this.#recent.put(this.#next);
    }
    this.#next = undefined;
    this.chat = undefined;
    this.problem = undefined;
    this.sending = undefined;
    this.stopping = undefined;
  }

  /** Shows a message before the server has it. The result takes it back. */
  announce(sending: Sending): () => void {
    this.sending = sending;
    return () => {
      if (this.sending === sending) this.sending = undefined;
    };
  }

  take(frame: ServerFrame): void {
    if (frame.type === 'chat:gone') this.#recent.forget(frame.chatId);
    const before = this.#next;
    if (!before) return;
    if (this.problem?.missing && mayRestore(frame, before.id)) {
      this.close();
      return this.open(before.id);
    }
    if (frame.type === 'error') {
      if (frame.chatId !== before.id) return;
      const missing = frame.error.code === 'not_found';
      this.problem = { missing, error: frame.error };
      if (missing) this.#lose(before.id);
      else this.#askAfterProblem();
      return;
    }
    if (frame.type === 'event' && before.caughtUp) syncServerClock(frame.at);
    this.#next = reduce(before, frame);
    if (this.#next.missed && !before.missed) this.#askAgain();
    if (this.#next !== before) this.#paint();
  }

  /** It was deleted: nothing of it is shown; if restored, it is loaded from the start. */
  #lose(id: ChatId): void {
    this.#recent.forget(id);
    this.#next = emptyChat(id);
    this.chat = undefined;
    this.sending = undefined;
    this.stopping = undefined;
  }

  #askAgain(): void {
    const wait = Math.max(0, this.#askedAt + RESYNC_DELAY_MS - Date.now());
    setTimeout(() => {
      this.#askedAt = Date.now();
      if (this.#next) this.#socket.resubscribe(this.#next.id);
    }, wait);
  }

  /** Until the server follows the chat again: it may have given up, or it was never asked. */
  #askAfterProblem(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      if (this.problem && !this.problem.missing && this.#next)
        this.#socket.resubscribe(this.#next.id);
    }, PROBLEM_RETRY_DELAY_MS);
  }

  /** Once per frame of the screen at most, however many frames the socket brought. */
  #paint(): void {
    this.#pacer.request(() => {
      // Rendering while the history loads would make it rush by.
      if (this.#next?.caughtUp) this.#show(this.#next);
    });
  }

  #show(chat: Chat): void {
    this.chat = chat;
    this.problem = undefined;
    if (chat.turns.some((turn) => turn.id === this.sending?.turnId)) this.sending = undefined;
    if (this.stopping !== runningTurn(chat)?.id) this.stopping = undefined;
  }
}

/** Whether a chat that was deleted may be there again. */
function mayRestore(frame: ServerFrame, id: ChatId): boolean {
  return frame.type === 'resync' || (frame.type === 'chat:changed' && frame.chat.id === id);
}
