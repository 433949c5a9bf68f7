// Where the page is: `#/` is a new chat, `#/c/<id>` an old one. In the hash, so
// that the server has one page to serve and no rule about paths.
import type { ChatId } from './api/types';

export type Route = { name: 'new' } | { name: 'chat'; chatId: ChatId };

class Router {
  #route = $state.raw<Route>(parse(location.hash));

  constructor() {
    addEventListener('hashchange', () => (this.#route = parse(location.hash)));
  }

  /** The chat that is open, if one is. */
  get chatId(): ChatId | undefined {
    return this.#route.name === 'chat' ? this.#route.chatId : undefined;
  }

  go(route: Route): void {
    location.hash = href(route);
  }

  /** Goes there without leaving the present place in the history. */
  replace(route: Route): void {
    history.replaceState(null, '', href(route));
    this.#route = route;
  }
}

export const router = new Router();

export function href(route: Route): string {
  return route.name === 'chat' ? `#/c/${encodeURIComponent(route.chatId)}` : '#/';
}

export function parse(hash: string): Route {
  const chatId = /^#\/c\/([^/]+)$/.exec(hash)?.[1];
  if (!chatId) return { name: 'new' };
  try {
    return { name: 'chat', chatId: decodeURIComponent(chatId) };
  } catch {
    return { name: 'new' };
  }
}
