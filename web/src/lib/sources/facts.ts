// The one-line summary of a server.
import { ApiError } from '$lib/api/client';
import { errorKey } from '$lib/api/errorKey';
import type { ErrorDetail, SourceDetail, SourceOrigin } from '$lib/api/types';
import type { Messages } from '$lib/i18n/en';
import { describeError } from '$lib/i18n/errorText';
import type { SourcesMessages } from '$lib/i18n/sources/en';
import { secretNamed } from './secretNames';

/** Servers can be configured in this variable too; the API reports it like a file. */
const CONNECTIONS_VARIABLE = 'TOOL_SERVER_CONNECTIONS';

/** What it waits for from the person who looks at it, before it can be of use to them. */
export function needOf(source: SourceDetail): 'login' | 'secrets' | undefined {
  if (!source.enabled) return undefined;
  if (source.unset.some((variable) => secretNamed(variable).mine)) return 'secrets';
  return source.login === 'needed' ? 'login' : undefined;
}

/** How far it is with coming up, or what it is otherwise. */
export function stateOf(source: SourceDetail, w: SourcesMessages): string {
  const { state, startup } = source;
  return state === 'starting' && startup ? w.startupSteps[startup.step] : w.states[state];
}

/** Why it is not as it should be, in words of this page where it has them. */
export function whyOf(source: SourceDetail): string {
  const reason = reasonOf(source);
  return reason ? describeError(reason) : '';
}

/** The error that a state has, as it is shown. */
function reasonOf(source: SourceDetail): ErrorDetail | undefined {
  if (!('why' in source)) return undefined;
  const { cause, why } = source;
  return cause ? (cause.advice ?? cause.how) : why;
}

/** Whether a request failed for the reason that the state gives. */
export function isSameFailure(error: unknown, source: SourceDetail): boolean {
  const reason = reasonOf(source);
  return error instanceof ApiError && reason !== undefined && errorKey(error) === errorKey(reason);
}

/** How well each state serves; one that is off has nothing to complain of. */
const standing: Record<SourceDetail['state'], number> = {
  failed: 0,
  offline: 0,
  starting: 1,
  degraded: 1,
  sleeping: 2,
  ready: 2,
  off: 3,
};

export function isBetter(now: SourceDetail['state'], before: SourceDetail['state']): boolean {
  return standing[now] > standing[before];
}

export function sourceFacts(
  source: SourceDetail,
  w: SourcesMessages,
  t: Pick<Messages, 'toolCount' | 'separator'>,
): { line: string[]; about: string } {
  const { origin, reach, server, state, tools } = source;
  const need = needOf(source);
  const place = placeOf(origin, w);
  const states = { login: w.needsLogIn, secrets: w.needsSecrets };
  const line = [
    need ? states[need] : stateOf(source, w),
    tools > 0 || (state !== 'starting' && !need) ? t.toolCount(tools) : '',
    reach ? w.transports[reach.transport] : '',
    source.login === 'connected' ? w.loggedIn : '',
    source.trustHints && tools > 0 ? w.trusted : '',
    place.name,
    state === 'sleeping' ? w.sleepingMeans : '',
  ];
  const about = [
    server ? w.speaks(server.name, server.version) : '',
    server && source.kind !== 'openapi' ? w.protocol(server.protocol) : '',
    source.pid === undefined ? '' : w.process(source.pid),
    source.restarts > 0 ? w.restarts(source.restarts) : '',
    place.means,
  ];
  return { line: line.filter(Boolean), about: about.filter(Boolean).join(t.separator) };
}

/** Where it is written down, if not here. */
function placeOf(origin: SourceOrigin, w: SourcesMessages): { name: string; means: string } {
  if (origin.kind === 'added') return { name: '', means: '' };
  const { file } = origin;
  return file === CONNECTIONS_VARIABLE
    ? { name: w.fromVariable(file), means: w.variableMeans }
    : { name: w.fromFile(file), means: w.fileMeans };
}
