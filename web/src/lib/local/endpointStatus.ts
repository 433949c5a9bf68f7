// How an address on this machine stands: what was found there, and what Tenon said of it.
import type { ErrorDetail, LocalEndpoint } from '$lib/api/types';
import { describeError } from '$lib/i18n/errorText';
import type { Diagnosis } from './diagnose';
import type { DiscoverResult, ServerWithTools } from './discover';
import type { Offers } from './offers';

/** The latest check of an endpoint. */
export interface EndpointCheck {
  /** A check is running. */
  looking: boolean;
  /** The browser seems to ask the person, somewhere above the page. */
  waiting: boolean;
  /** Absent until the first check has ended. */
  finding?: DiscoverResult;
}

/** Tenon's response to the registration of a server. */
export interface RegistrationState {
  tools: number;
  /** It cannot be used at all. */
  problem?: ErrorDetail;
  /** What was left out of it. */
  notes: ErrorDetail[];
}

/** What is shown of an endpoint. */
export interface EndpointStatus {
  state: 'off' | 'looking' | 'waiting' | 'found' | 'trouble';
  /** Those that this address offers. */
  servers: readonly ServerWithTools[];
  tools: number;
  /** Another address offers all that is here. */
  sameAs?: string;
  /** What is in the way: of the whole, or of one that it names. */
  diagnoses: readonly { name: string; diagnosis: Diagnosis }[];
  notes: readonly ErrorDetail[];
}

export function endpointStatus(
  { url, enabled }: Pick<LocalEndpoint, 'url' | 'enabled'>,
  check: EndpointCheck | undefined,
  offers: Offers,
  registrations: ReadonlyMap<string, RegistrationState>,
): EndpointStatus {
  const found = { url, servers: check?.finding?.servers ?? [] };
  const servers = offers.by(found);
  const said = servers.map((server) => ({ server, said: registrations.get(server.hash) }));
  const diagnoses = [...(check?.finding?.diagnoses ?? [])];
  const whole = check?.finding?.diagnosis;
  if (whole && diagnoses.length === 0) diagnoses.push({ name: '', diagnosis: whole });
  for (const { server, said: { problem } = {} } of said) {
    if (!problem) continue;
    const diagnosis: Diagnosis = { kind: 'badSpec', where: describeError(problem) };
    diagnoses.push({ name: server.name ?? '', diagnosis });
  }
  const known = !check?.finding ? 'looking' : found.servers.length > 0 ? 'found' : 'trouble';
  return {
    state: !enabled ? 'off' : check?.waiting ? 'waiting' : known,
    servers,
    tools: said.reduce((sum, { said }) => sum + (said?.tools ?? 0), 0),
    sameAs: enabled ? offers.sameAs(found) : undefined,
    diagnoses,
    notes: said.flatMap(({ said }) => said?.notes ?? []),
  };
}
