// Where the page is: `#/` is a new chat, `#/e/<id>` one with an expert, `#/c/<id>` an old one, `#/c/<id>/<turn>`
// one place in it, `#/shared/<token>` a shared chat, and
// `#/settings/<section>` lies over the others. In the hash, so that the server has
// one page to serve and no rule about paths, and no token stands in its log.
import type { ChatId, ExpertId, TurnId } from './api/types';

export const sections = [
  'account',
  'keys',
  'experts',
  'prompts',
  'skills',
  'servers',
  'people',
  'dashboard',
  'log',
] as const;
export type Section = (typeof sections)[number];

export type Route =
  | { name: 'new'; expertId?: ExpertId }
  | { name: 'chat'; chatId: ChatId; turnId?: TurnId }
  | { name: 'shared'; token: string }
  | { name: 'settings'; section: Section }
  | { name: 'invite'; token: string }
  /** With what went wrong where the person came from. */
  | { name: 'login'; error?: string };

class Router {
  #route = $state.raw<Route>(parse(location.hash));

  /** What lies under the settings. */
  #below = $state.raw<Route>({ name: 'new' });

  constructor() {
    addEventListener('hashchange', () => this.#take(parse(location.hash)));
  }

  get route(): Route {
    return this.#route;
  }

  /** The chat that is open, if one is. */
  get chatId(): ChatId | undefined {
    const route = this.#route.name === 'settings' ? this.#below : this.#route;
    return route.name === 'chat' ? route.chatId : undefined;
  }

  /** Whom the chat that is about to begin is with. */
  get expertId(): ExpertId | undefined {
    const route = this.#route.name === 'settings' ? this.#below : this.#route;
    return route.name === 'new' ? route.expertId : undefined;
  }

  /** The part of the settings that is open over it. */
  get section(): Section | undefined {
    return this.#route.name === 'settings' ? this.#route.section : undefined;
  }

  /** The turn that is to be shown, until it has been. */
  get turnId(): TurnId | undefined {
    return this.#route.name === 'chat' ? this.#route.turnId : undefined;
  }

  go(route: Route): void {
    location.hash = href(route);
  }

  /** Goes there without leaving the present place in the history. */
  replace(route: Route): void {
    history.replaceState(null, '', href(route));
    this.#take(route);
  }

  closeSettings(): void {
    if (this.#route.name === 'settings') this.replace(this.#below);
  }

  #take(route: Route): void {
    if (this.#route.name !== 'settings') this.#below = this.#route;
    this.#route = route;
  }
}

export const router = new Router();

export function href(route: Route): string {
  switch (route.name) {
    case 'new':
      return route.expertId ? path('e', route.expertId) : '#/';
    case 'chat':
      return path('c', route.chatId, ...(route.turnId ? [route.turnId] : []));
    case 'shared':
      return path('shared', route.token);
    case 'settings':
      return path('settings', route.section);
    case 'invite':
      return path('invite', route.token);
    case 'login':
      return path('login') + (route.error ? `?error=${encodeURIComponent(route.error)}` : '');
  }
}

export function parse(hash: string): Route {
  const [where = '', query] = hash.split('?');
  const [place, first, second, ...rest] = pieces(where);
  if (rest.length > 0) return { name: 'new' };
  if (place === 'c' && first) {
    return second
      ? { name: 'chat', chatId: first, turnId: second }
      : { name: 'chat', chatId: first };
  }
  if (place === 'e' && first && second === undefined) return { name: 'new', expertId: first };
  if (place === 'shared' && first && second === undefined) return { name: 'shared', token: first };
  if (place === 'settings' && second === undefined) {
    return {
      name: 'settings',
      section: sections.find((section) => section === first) ?? 'account',
    };
  }
  if (place === 'invite' && first && second === undefined) return { name: 'invite', token: first };
  if (place === 'login' && first === undefined) {
    const error = new URLSearchParams(query).get('error');
    return error ? { name: 'login', error } : { name: 'login' };
  }
  return { name: 'new' };
}

function path(...pieces: string[]): string {
  return `#/${pieces.map(encodeURIComponent).join('/')}`;
}

function pieces(hash: string): string[] {
  try {
    return hash.replace(/^#\//, '').split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}
