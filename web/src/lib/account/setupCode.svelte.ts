// The code in the link that Tenon prints, `#setup=CODE`: taken out of the address at once,
// so that it stays neither in the history nor on a screenshot, and kept in memory alone.

const SETUP_HASH_PREFIX = '#setup=';

class SetupCode {
  /** Empty until a link was opened, and once its code was refused. */
  value = $state('');
  #opened = () => {};

  constructor() {
    this.#take();
    addEventListener('hashchange', () => this.#take());
  }

  /** Calls back when a link is opened in a page that is there already. */
  onOpened(listener: () => void): void {
    this.#opened = listener;
  }

  forget(): void {
    this.value = '';
  }

  #take(): void {
    if (!location.hash.startsWith(SETUP_HASH_PREFIX)) return;
    this.value = parseSetupCode(location.hash);
    history.replaceState(null, '', '#/');
    this.#opened();
  }
}

/** Parses pasted text: the code, or the whole link with it. */
export function parseSetupCode(text: string): string {
  const start = text.indexOf(SETUP_HASH_PREFIX);
  return (start < 0 ? text : text.slice(start + SETUP_HASH_PREFIX.length)).trim();
}

export const setupCode = new SetupCode();
