// The state of all endpoints on this computer, summed up.
import type { LocalEndpoint } from '$lib/api/types';
import type { Diagnosis } from './diagnose';
import type { EndpointStatus } from './endpointStatus';
import type { Local } from './local.svelte';
import { isPermission, isQuiet, isUntouched } from './endpointState';

export interface Overview {
  rows: { endpoint: LocalEndpoint; status: EndpointStatus }[];
  tools: number;
  /** Endpoints that need fixing. */
  problems: number;
  /** The browser seems to be asking the person. */
  waiting: boolean;
  /** A browser permission problem, which concerns all addresses. */
  forbidden: Diagnosis | undefined;
  /** Nobody has set up anything, and nothing is there. */
  nothing: boolean;
}

export function overviewOf({
  endpoints,
  statusOf,
  lastSeen = () => 0,
}: {
  endpoints: { all: readonly LocalEndpoint[] };
  statusOf: Local['statusOf'];
  /** How many tools of an address Tenon still lists: where some were, their absence is news. */
  lastSeen?: (endpoint: LocalEndpoint) => number;
}): Overview {
  const rows = endpoints.all.map((endpoint) => ({ endpoint, status: statusOf(endpoint) }));
  const diagnoses = rows.flatMap(({ endpoint, status }) =>
    endpoint.enabled ? status.diagnoses.map(({ diagnosis }) => ({ endpoint, diagnosis })) : [],
  );
  const isNothing = ({ endpoint, status }: Overview['rows'][0]) =>
    isUntouched(endpoint) &&
    lastSeen(endpoint) === 0 &&
    status.state === 'trouble' &&
    status.diagnoses.every(
      ({ diagnosis }) => isQuiet(endpoint, diagnosis) || isPermission(diagnosis),
    );
  const serious = diagnoses.filter(
    ({ endpoint, diagnosis }) =>
      !(isQuiet(endpoint, diagnosis) && lastSeen(endpoint) === 0) && !isPermission(diagnosis),
  );
  return {
    rows,
    tools: rows.reduce((sum, { status }) => sum + status.tools, 0),
    problems: new Set(serious.map(({ endpoint }) => endpoint.url)).size,
    waiting: rows.some(({ status }) => status.state === 'waiting'),
    forbidden: diagnoses.find(({ diagnosis }) => isPermission(diagnosis))?.diagnosis,
    nothing: rows.every(isNothing),
  };
}
