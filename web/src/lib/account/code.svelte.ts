// The code in the link that Tenon prints, `#setup=CODE`: taken out of the address at once,
// so that it stays neither in the history nor on a screenshot, and kept in memory alone.

const PREFIX = '#setup=';

class LinkCode {
  /** Empty until a link was opened, and once its code was refused. */
  value = $state('');
  #opened = () => {};

  constructor() {
    this.#take();
    addEventListener('hashchange', () => this.#take());
  }

  /** Calls back when a link is opened in a page that is there already. */
  whenOpened(listener: () => void): void {
    this.#opened = listener;
  }

  forget(): void {
    this.value = '';
  }

  #take(): void {
    if (!location.hash.startsWith(PREFIX)) return;
    this.value = codeIn(location.hash);
    history.replaceState(null, '', '#/');
    this.#opened();
  }
}

/** What somebody pasted: the code, or the whole link that has it. */
export function codeIn(text: string): string {
  const start = text.indexOf(PREFIX);
  return (start < 0 ? text : text.slice(start + PREFIX.length)).trim();
}

export const linkCode = new LinkCode();
