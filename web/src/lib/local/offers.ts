// One server may be found at several addresses. It is offered to Tenon once, by one of them.
import { canonicalUrl } from './address';
import type { ServerWithTools } from './discover';

/** What was found at an address. */
export interface FoundServers {
  url: string;
  servers: readonly ServerWithTools[];
  /** A person entered a key for exactly this address. */
  hasKey?: boolean;
}

export class Offers {
  /** Each server once. */
  readonly servers: readonly ServerWithTools[];
  /** By what a server is: the address that offers it. */
  readonly #owners = new Map<string, string>();

  /** In the order of the list: the first address that leads to a server offers it, unless there is
      a key for a later one that is exactly its own. */
  constructor(found: readonly FoundServers[]) {
    const chosen = new Map<string, { server: ServerWithTools; isSure: boolean }>();
    for (const { url, servers, hasKey = false } of found) {
      for (const server of servers) {
        const identity = identityOf(server);
        const isSure = hasKey && canonicalUrl(server.url) === canonicalUrl(url);
        const before = chosen.get(identity);
        if (before && (before.isSure || !isSure)) continue;
        chosen.set(identity, { server, isSure });
        this.#owners.set(identity, url);
      }
    }
    this.servers = [...chosen.values()].map(({ server }) => server);
  }

  /** Those that this address offers. */
  by({ url, servers }: FoundServers): ServerWithTools[] {
    return servers.filter((server) => this.#owners.get(identityOf(server)) === url);
  }

  /** The other address that offers all of them, where there is one. */
  sameAs({ url, servers }: FoundServers): string | undefined {
    const owners = new Set(servers.map((server) => this.#owners.get(identityOf(server))));
    const [owner] = owners;
    return owners.size === 1 && owner !== url ? owner : undefined;
  }
}

/** Where its tools were read, which is the same for all addresses that lead there. */
export function identityOf({ url, name = '', offered }: ServerWithTools): string {
  return offered.type === 'openapi' ? canonicalUrl(offered.url) : `${canonicalUrl(url)} ${name}`;
}
