// What Tenon is told of the servers on this machine, and what it said of them.
import type { DiscoveredServer, ErrorDetail, RegistrationResult } from '$lib/api/types';
import { localToolsTooLong } from '$lib/i18n/errors/localToolsTooLong';
import type { ServerWithTools } from './discover';
import type { RegistrationState } from './endpointStatus';
import { MAX_OFFERED_MIB, offersInFrame } from './offersInFrame';

export class Registrations {
  /** What Tenon said of what was found, by hash. */
  all = $state.raw<ReadonlyMap<string, RegistrationState>>(new Map());
  /** Why Tenon took nothing of what was offered last. */
  problem = $state.raw<ErrorDetail>();
  /** Whose tools Tenon asked for. */
  #requested = new Set<string>();

  /** As they are sent: with their tools, where Tenon wants them and as much as goes into one frame.
      It asks again for the rest. */
  toSend(servers: readonly ServerWithTools[]): DiscoveredServer[] {
    const wanted = servers.filter((server) => this.#requested.has(idOf(server)));
    const { along, tooLong } = offersInFrame(wanted);
    const refused = tooLong.map(({ hash }): [string, RegistrationState] => [
      hash,
      { tools: 0, problem: localToolsTooLong(MAX_OFFERED_MIB), notes: [] },
    ]);
    if (refused.length > 0) this.all = new Map([...this.all, ...refused]);
    this.#requested.clear();
    const sent = new Set(along.map(idOf));
    return servers.map(({ offered, ...server }) =>
      sent.has(idOf(server)) ? { ...server, offered } : server,
    );
  }

  /** Whether Tenon wants the tools of some of them. */
  take({ servers: answers, problem }: RegistrationResult, servers: readonly ServerWithTools[]) {
    this.problem = problem;
    const said = new Map<string, RegistrationState>();
    const wanted = new Set<string>();
    for (const server of servers) {
      const { url, name, hash } = server;
      const answer = answers.find((one) => one.url === url && one.name === (name ?? ''));
      const before = this.all.get(hash);
      if (answer && !answer.wanted) {
        const { tools, problem, notes } = answer;
        said.set(hash, { tools, problem, notes });
      } else if (before && !said.has(hash)) {
        said.set(hash, before);
      }
      // What Tenon cannot use is not sent again.
      if (answer?.wanted && !before?.problem) wanted.add(idOf(server));
    }
    this.all = said;
    this.#requested = wanted;
    return wanted.size > 0;
  }
}

function idOf({ url, name = '' }: Pick<ServerWithTools, 'url' | 'name'>): string {
  return `${url} ${name}`;
}
