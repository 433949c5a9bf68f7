// Starts what looks after tool servers on this computer. It is loaded after the page: nobody waits
// for it.
import type { ClientFrame } from '$lib/api/types';
import { whenIdle } from '$lib/whenIdle';
import type { Local } from './local.svelte';

export class LocalStarter {
  local = $state.raw<Local>();
  #send: (frame: ClientFrame) => void;

  constructor(send: (frame: ClientFrame) => void) {
    this.#send = send;
  }

  /** Returns a function that stops it. */
  start(): () => void {
    let stop = () => {};
    let stopped = false;
    const begin = async () => {
      await whenIdle();
      if (stopped) return;
      const [{ Local }, { showComputerQuestion, showServerNews }] = await Promise.all([
        import('./local.svelte'),
        import('./newsToast'),
      ]);
      if (stopped) return;
      this.local = new Local(this.#send, showServerNews, showComputerQuestion);
      stop = this.local.start();
    };
    // It is tried again when the page is loaded again.
    begin().catch(() => {});
    return () => {
      stopped = true;
      stop();
      this.local = undefined;
    };
  }
}
