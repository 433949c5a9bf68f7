// How this computer stands as a whole.
import type { LocalEndpoint } from '$lib/api/types';
import type { Trouble } from './diagnose';
import type { Local, Status } from './local.svelte';
import { isPermission, isQuiet, isUntouched } from './row';

export interface Overview {
  rows: { endpoint: LocalEndpoint; status: Status }[];
  tools: number;
  /** Addresses that need somebody's hand. */
  problems: number;
  /** The browser seems to be asking the person. */
  waiting: boolean;
  /** What the browser has against it, whatever the address is. */
  forbidden: Trouble | undefined;
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
  const troubles = rows.flatMap(({ endpoint, status }) =>
    endpoint.enabled ? status.troubles.map(({ trouble }) => ({ endpoint, trouble })) : [],
  );
  const isNothing = ({ endpoint, status }: Overview['rows'][0]) =>
    isUntouched(endpoint) &&
    status.state === 'trouble' &&
    status.troubles.every(({ trouble }) => isQuiet(endpoint, trouble) || isPermission(trouble));
  const serious = troubles.filter(
    ({ endpoint, trouble }) => !isQuiet(endpoint, trouble) && !isPermission(trouble),
  );
  return {
    rows,
    tools: rows.reduce((sum, { status }) => sum + status.tools, 0),
    problems: new Set(serious.map(({ endpoint }) => endpoint.url)).size,
    waiting: rows.some(({ status }) => status.state === 'waiting'),
    forbidden: troubles.find(({ trouble }) => isPermission(trouble))?.trouble,
    nothing: rows.every(isNothing),
  };
}
