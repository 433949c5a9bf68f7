// The state of all endpoints on this computer, summed up.
import type { LocalEndpoint } from '$lib/api/types';
import type { Diagnosis } from './diagnose';
import type { Local, EndpointStatus } from './local.svelte';
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
}: {
  endpoints: { all: readonly LocalEndpoint[] };
  statusOf: Local['statusOf'];
}): Overview {
  const rows = endpoints.all.map((endpoint) => ({ endpoint, status: statusOf(endpoint) }));
  const diagnoses = rows.flatMap(({ endpoint, status }) =>
    endpoint.enabled ? status.diagnoses.map(({ diagnosis }) => ({ endpoint, diagnosis })) : [],
  );
  const isNothing = ({ endpoint, status }: Overview['rows'][0]) =>
    isUntouched(endpoint) &&
    status.state === 'trouble' &&
    status.diagnoses.every(
      ({ diagnosis }) => isQuiet(endpoint, diagnosis) || isPermission(diagnosis),
    );
  const serious = diagnoses.filter(
    ({ endpoint, diagnosis }) => !isQuiet(endpoint, diagnosis) && !isPermission(diagnosis),
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
