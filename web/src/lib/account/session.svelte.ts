// Who this page is for. The server is asked before anything else is, and again
// whenever it refuses somebody: only its answer decides that a session is over.
// A page belongs to one person; for another one it begins anew.
import { ApiError, whenRefused } from '$lib/api/client';
import { entrance } from '$lib/api/entrance';
import type { Account, AuthState } from '$lib/api/types';
import { remember, rememberFor, whenChangedElsewhere } from '$lib/storage';
import { linkCode } from './code.svelte';

/** How soon a server that did not say who is here is asked again. */
const ASK_AGAIN_MS = 2_000;

export class Session {
  /** What the server said last; absent until it has said anything. */
  state = $state.raw<AuthState>();
  /** Whose page this is. Stays when the session ends, so that they find it as it was. */
  account = $state.raw<Account>();
  /** They were here, and have to log in again. */
  ended = $state(false);
  /** The server does not answer the question who is here. */
  silent = $state(false);
  /** Why the link that was opened does not let in. */
  refusal = $state.raw<ApiError>();

  inside = $derived(this.account !== undefined);
  /** May change what is everybody's. */
  isAdmin = $derived(this.account?.role === 'admin');
  /** There are accounts here, and this is one. */
  hasAccount = $derived(this.account !== undefined && !this.state?.singleUser);

  /** Begins the page anew, with nothing of this one in it. */
  #beginAnew: () => void;
  #looking?: Promise<void>;
  #again?: ReturnType<typeof setTimeout>;

  constructor(beginAnew: () => void) {
    this.#beginAnew = beginAnew;
  }

  /** Until the function it returns is called. */
  start(): () => void {
    const look = () => void this.look();
    const seen = () => document.visibilityState === 'visible' && look();
    whenRefused(look);
    document.addEventListener('visibilitychange', seen);
    addEventListener('online', look);
    linkCode.whenOpened(look);
    // Tabs share one cookie: who logs in or out in one of them does so in all.
    const stopListening = whenChangedElsewhere('account', look);
    look();
    return () => {
      whenRefused(() => {});
      document.removeEventListener('visibilitychange', seen);
      removeEventListener('online', look);
      linkCode.whenOpened(() => {});
      stopListening();
      clearTimeout(this.#again);
    };
  }

  /** Asks who is here. Fails never: a server that does not answer is asked again. */
  look(): Promise<void> {
    this.#looking ??= this.#ask().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Somebody has just logged in. */
  enter(account: Account): void {
    if (this.account && this.account.id !== account.id) {
      remember('account', account.id);
      return this.#beginAnew();
    }
    rememberFor(this.state?.singleUser ? undefined : account.id);
    remember('account', account.id);
    this.account = account;
    this.ended = false;
    this.refusal = undefined;
    if (this.state) this.state = { ...this.state, account, setup: false, setupCode: false };
  }

  /** They know what was switched off. Told once more where the server does not hear of that. */
  readSwitchedOff(): void {
    if (this.state) this.state = { ...this.state, switchedOff: undefined };
    entrance.forgetSwitchedOff().catch(() => {
      // The next visit tells it again.
    });
  }

  /** Fails where the server cannot be reached: then the session is still open. */
  async logOut(): Promise<void> {
    await entrance.logOut();
    this.leave();
  }

  /** The session was ended from here. */
  leave(): void {
    remember('account', '');
    this.#beginAnew();
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#again);
    try {
      this.#take(await this.#opened(await entrance.state()));
    } catch {
      this.silent = true;
      // Whoever is in has a socket, which comes back by itself and asks then.
      if (this.inside) return;
      this.#again = setTimeout(() => void this.look(), ASK_AGAIN_MS);
    }
  }

  /** Where there is one person, the link that was opened is all it takes. */
  async #opened(state: AuthState): Promise<AuthState> {
    const code = linkCode.value;
    if (!code || !state.singleUser || state.account) return state;
    try {
      const account = await entrance.setUp({ code });
      linkCode.forget();
      return { ...state, account, setupCode: false };
    } catch (error) {
      // A server that does not answer is asked again, with the same code.
      if (!(error instanceof ApiError) || error.unreachable) throw error;
      linkCode.forget();
      this.refusal = error;
      return state;
    }
  }

  #take(state: AuthState): void {
    this.silent = false;
    this.state = state;
    if (state.account) this.enter(state.account);
    else if (this.account) this.ended = true;
  }
}

export const session = new Session(() => {
  // The address may name what only the former person can open.
  history.replaceState(null, '', '#/');
  location.reload();
});
