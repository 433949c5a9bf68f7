// Which servers came and which went since the last look, for those who do not watch the panel.
import type { ServerWithTools } from './discover';
import { identityOf } from './offers';

export interface ServerChanges {
  /** Their names. */
  come: string[];
  gone: string[];
}

export class ServerNews {
  /** Absent until everything was looked at once: what was there before is no news. */
  #known?: ReadonlyMap<string, string>;

  /** What is new of what is there now. `tell` is false for what a person has just done. */
  update(servers: readonly ServerWithTools[], { tell }: { tell: boolean }): ServerChanges {
    const before = this.#known;
    const now = new Map(servers.map((server) => [identityOf(server), nameOf(server)]));
    this.#known = now;
    if (!before || !tell) return { come: [], gone: [] };
    const missing = (all: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>) =>
      [...all].flatMap(([identity, name]) => (others.has(identity) ? [] : [name]));
    return { come: missing(now, before), gone: missing(before, now) };
  }
}

function nameOf({ title, name, url }: ServerWithTools): string {
  return name || title || new URL(url).host;
}
