// Where the page is: `#/` is a new chat, `#/e/<id>` one with an expert, `#/f/<id>` one in a folder
// (`#/f/<id>/<expert>` with an expert), `#/c/<id>` an old one, `#/c/<id>/<turn>` one place in it,
// `#/compare/<model>/<model>` two models side by side, `#/shared/<token>` a shared chat, and
// `#/settings`, `#/settings/<section>` and `#/settings/<section>/<item>` lie over the others. In
// the hash, so that the server has one page to serve and no rule about paths, and no token stands
// in its log.
import type { ChatId, ExpertId, FolderId, ModelId, TurnId } from './api/types';

export const sections = [
  'account',
  'instructions',
  'appearance',
  'notifications',
  'shortcuts',
  'keys',
  'data',
  'servers',
  'local',
  'skills',
  'policies',
  'models',
  'experts',
  'prompts',
  'people',
  'dashboard',
  'log',
] as const;
export type Section = (typeof sections)[number];

/** Without a section: the list of them. `item` is one thing in a section that is open. */
export interface SettingsRoute {
  name: 'settings';
  section?: Section;
  item?: string;
}

export type Route =
  | { name: 'new'; expertId?: ExpertId; folderId?: FolderId }
  | { name: 'chat'; chatId: ChatId; turnId?: TurnId }
  | { name: 'compare'; models: readonly [ModelId, ModelId] }
  | { name: 'shared'; token: string }
  | SettingsRoute
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
    const route = this.#page;
    return route.name === 'chat' ? route.chatId : undefined;
  }

  /** Whom the chat that is about to begin is with. */
  get expertId(): ExpertId | undefined {
    const route = this.#page;
    return route.name === 'new' ? route.expertId : undefined;
  }

  /** The folder in which the chat that is about to begin will be. */
  get folderId(): FolderId | undefined {
    const route = this.#page;
    return route.name === 'new' ? route.folderId : undefined;
  }

  /** The models that are compared. */
  get compared(): readonly [ModelId, ModelId] | undefined {
    const route = this.#page;
    return route.name === 'compare' ? route.models : undefined;
  }

  /** The settings, where they are open over it. */
  get settings(): SettingsRoute | undefined {
    return this.#route.name === 'settings' ? this.#route : undefined;
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

  /** Where the page is, whatever lies over it. */
  get #page(): Route {
    return this.#route.name === 'settings' ? this.#below : this.#route;
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
      if (route.folderId) {
        return path('f', route.folderId, ...(route.expertId ? [route.expertId] : []));
      }
      return route.expertId ? path('e', route.expertId) : '#/';
    case 'chat':
      return path('c', route.chatId, ...(route.turnId ? [route.turnId] : []));
    case 'compare':
      return path('compare', ...route.models);
    case 'shared':
      return path('shared', route.token);
    case 'settings':
      return path(
        'settings',
        ...(route.section ? [route.section] : []),
        ...(route.section && route.item ? [route.item] : []),
      );
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
  if (place === 'f' && first) {
    return { name: 'new', folderId: first, ...(second && { expertId: second }) };
  }
  if (place === 'compare' && first && second) return { name: 'compare', models: [first, second] };
  if (place === 'shared' && first && second === undefined) return { name: 'shared', token: first };
  if (place === 'settings') {
    const section = sections.find((section) => section === first);
    if (!section) return { name: 'settings' };
    return second ? { name: 'settings', section, item: second } : { name: 'settings', section };
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
