// The session of this page. The server is asked who is logged in before anything else, and again
// after every 401: only its answer ends a session. A page belongs to one person; for another one
// it reloads.
import { ApiError, onUnauthorized } from '$lib/api/client';
import { authApi } from '$lib/api/auth';
import type { Account, AuthState } from '$lib/api/types';
import { saveSetting, setStorageAccount, onChangedInOtherTab } from '$lib/storage';
import { ResponseOrder } from '$lib/responseOrder';
import { setupCode } from './setupCode.svelte';

/** How soon a server that did not say who is here is asked again. */
const RETRY_INTERVAL_MS = 2_000;

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

  /** Reloads the page. */
  #reload: () => void;
  #asking?: Promise<void>;
  #next?: Promise<void>;
  #again?: ReturnType<typeof setTimeout>;
  #order = new ResponseOrder();
  #switchedOffIsRead = false;

  constructor(reload: () => void) {
    this.#reload = reload;
  }

  /** Returns a function that unsubscribes. */
  start(): () => void {
    const look = () => void this.look();
    const seen = () => document.visibilityState === 'visible' && look();
    onUnauthorized(look);
    document.addEventListener('visibilitychange', seen);
    addEventListener('online', look);
    setupCode.onOpened(look);
    // Tabs share one cookie: who logs in or out in one of them does so in all.
    const stopListening = onChangedInOtherTab('account', look);
    look();
    return () => {
      onUnauthorized(() => {});
      document.removeEventListener('visibilitychange', seen);
      removeEventListener('online', look);
      setupCode.onOpened(() => {});
      stopListening();
      clearTimeout(this.#again);
    };
  }

  /** Asks who is logged in. Never fails: a server that does not answer is asked again. */
  look(): Promise<void> {
    return this.refresh().catch(() => {});
  }

  /** Asks who is logged in. Fails where the server does not answer. */
  refresh(): Promise<void> {
    if (!this.#asking) {
      this.#asking = this.#ask().finally(() => (this.#asking = undefined));
      return this.#asking;
    }
    // What was asked for before a change may not know of it. One after the other: a set-up code
    // is used once.
    const again = () => {
      this.#next = undefined;
      return this.refresh();
    };
    this.#next ??= this.#asking.then(again, again);
    return this.#next;
  }

  /** Called after a log-in. */
  enter(account: Account): void {
    if (this.account && this.account.id !== account.id) {
      saveSetting('account', account.id);
      return this.#reload();
    }
    this.#order.discard();
    setStorageAccount(this.state?.singleUser ? undefined : account.id);
    saveSetting('account', account.id);
    this.account = account;
    this.ended = false;
    this.refusal = undefined;
    if (this.state) this.state = { ...this.state, account, setup: false, setupCode: false };
  }

  /** They know what was switched off. Told once more where the server does not hear of that. */
  readSwitchedOff(): void {
    this.#switchedOffIsRead = true;
    if (this.state) this.state = { ...this.state, switchedOff: undefined };
    authApi.forgetSwitchedOff().catch(() => {
      // It is shown again at the next visit.
    });
  }

  /** Fails where the server cannot be reached: then the session is still open. */
  async logOut(): Promise<void> {
    await authApi.logOut();
    this.leave();
  }

  /** Called when the session was ended on this page. */
  leave(): void {
    saveSetting('account', '');
    this.#reload();
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#again);
    try {
      const isNewest = this.#order.send();
      const state = await this.#opened(await authApi.state());
      // Asked for before somebody logged in: it would end their session.
      if (!isNewest()) return await this.#ask();
      this.#take(state);
    } catch (error) {
      this.silent = true;
      // Whoever is in has a socket, which comes back by itself and asks then.
      if (!this.inside) this.#again = setTimeout(() => void this.look(), RETRY_INTERVAL_MS);
      throw error;
    }
  }

  /** In single-user mode, the opened link logs in. */
  async #opened(state: AuthState): Promise<AuthState> {
    const code = setupCode.value;
    if (!code || !state.singleUser || state.account) return state;
    try {
      const account = await authApi.setUp({ code });
      setupCode.forget();
      return { ...state, account, setupCode: false };
    } catch (error) {
      // A server that does not answer is asked again, with the same code.
      if (!(error instanceof ApiError) || error.unreachable) throw error;
      setupCode.forget();
      this.refusal = error;
      return state;
    }
  }

  #take(state: AuthState): void {
    this.silent = false;
    // An answer from before the server heard of it would show the notice again.
    this.state = this.#switchedOffIsRead ? { ...state, switchedOff: undefined } : state;
    if (state.account) this.enter(state.account);
    else if (this.account) this.ended = true;
  }
}

export const session = new Session(() => {
  // The address may name what only the former person can open.
  history.replaceState(null, '', '#/');
  location.reload();
});
