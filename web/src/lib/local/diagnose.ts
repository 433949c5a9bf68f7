// Why a tool server on this machine cannot be used, as far as a page can tell. What
// cannot be told apart is named together.
import { isBlockedPort, isLoopback, isNearby } from './address';
import { timeoutSignal } from './timeouts';
import { willPrompt, isGated, permissionFor, setUnasked, type Permission } from './permission';
import {
  answers,
  tryFetch,
  connects,
  cancelBody,
  textOf,
  watchCspViolations,
  type Answers,
  type Connects,
} from './probe';

export type Diagnosis =
  /** The browser never connects to this port. */
  | { kind: 'blockedPort' }
  /** A page over https may not ask an http address that is not this machine. */
  | { kind: 'mixedContent' }
  /** Tenon's own policy forbids it. */
  | { kind: 'policy' }
  /** The person has to be asked first, and a page may only ask when they want it to. */
  | { kind: 'permissionAsk' }
  /** The question may still be open. */
  | { kind: 'permissionUnanswered' }
  | { kind: 'permissionDismissed' }
  | { kind: 'permissionDenied' }
  /** Browsers let only pages over https ask. */
  | { kind: 'permissionNeedsHttps' }
  | { kind: 'notRunning' }
  /** Nobody listens there, or it is no HTTP. */
  | { kind: 'notRunningOrNotHttp' }
  /** Something listens that does not speak HTTP, or forbids cross-origin loading. */
  | { kind: 'notHttp' }
  | { kind: 'useHttp' }
  | { kind: 'useHttps' }
  | { kind: 'tlsNotTrusted' }
  | { kind: 'tlsOrNotRunning' }
  | { kind: 'cors' }
  | { kind: 'preflightHeader'; header: string }
  | { kind: 'preflightMethod'; method: string }
  | { kind: 'preflightRefused' }
  /** It answers with a header that a page has to know and is not shown. */
  | { kind: 'hiddenHeader'; header: string }
  | { kind: 'tooSlow' }
  | { kind: 'cut' }
  /** It requires a key, or rejects the given one. */
  | { kind: 'needsKey'; given: boolean; status: number }
  | { kind: 'wrongPath'; status: number }
  | { kind: 'notToolServer' }
  /** Its description cannot be used; the sentence says where it is wrong. */
  | { kind: 'badSpec'; where: string }
  /** It answered, but not as an MCP server does. */
  | { kind: 'badHandshake'; why: string }
  /** Tenon itself could not be asked. */
  | { kind: 'hub'; why: string };

export interface ProbeRequest {
  /** What a harmless GET asks for. */
  url: string;
  /** The headers that later requests will have, by name. */
  headers: Readonly<Record<string, string>>;
  /** The person clicked, so the browser may show a permission prompt. */
  mayAsk: boolean;
  signal?: AbortSignal;
  /** The browser seems to be asking the person. */
  onwaiting?: () => void;
}

/** How long anything may take; on Windows a refusal alone takes two seconds. */
export const PROBE_TIMEOUT_MS = 5_000;
/** Whoever has been asked nothing has answered by then. */
const PROMPT_DELAY_MS = 800;
/** Of what a server says about its refusal. */
const MAX_ERROR_LENGTH = 10_000;
/** Longer documents Tenon does not take. */
export const MAX_DOCUMENT_LENGTH = 8 * 1024 * 1024;

/** The document of a server that can be read, or what is in the way. */
export type TextProbe = { text: string } | { diagnosis: Diagnosis };

/** Asks for a document; where that fails, finds out why. */
export async function probeText(question: ProbeRequest): Promise<TextProbe> {
  const reached = await probeResponse(question);
  if ('diagnosis' in reached) return reached;
  const { response, signal } = reached;
  const diagnosisOfStatus = await diagnosisOfResponse(response, question);
  if (diagnosisOfStatus) return { diagnosis: diagnosisOfStatus };
  try {
    const text = await textOf(response, MAX_DOCUMENT_LENGTH);
    if (text !== undefined) return { text };
    return { diagnosis: { kind: 'badSpec', where: `> ${MAX_DOCUMENT_LENGTH / 1024 / 1024} MiB` } };
  } catch (error) {
    if (question.signal?.aborted) throw error;
    return { diagnosis: { kind: signal.aborted ? 'tooSlow' : 'cut' } };
  }
}

export type ResponseProbe = { response: Response; signal: AbortSignal } | { diagnosis: Diagnosis };

/** Asks, whatever the answer is; where none can be had, finds out why. */
export async function probeResponse(question: ProbeRequest): Promise<ResponseProbe> {
  const { url, headers } = question;
  const target = new URL(url);
  if (isBlockedPort(target)) return { diagnosis: { kind: 'blockedPort' } };
  const isNear = isLoopback(target.hostname) || isNearby(target.hostname);
  if (location.protocol === 'https:' && target.protocol === 'http:' && !isNear) {
    return { diagnosis: { kind: 'mixedContent' } };
  }
  const gated = isGated(target);
  const permission = gated ? await permissionFor(target) : 'granted';
  const asking = await willPrompt(target);
  if (asking && !question.mayAsk) return { diagnosis: { kind: 'permissionAsk' } };
  const signal = timeoutSignal(PROBE_TIMEOUT_MS, { asking, signal: question.signal });

  // While the browser asks, several that come one after the other would each count as asked.
  const aside = asking ? Promise.all([answers(url, signal), connects(url, signal)]) : undefined;
  aside?.catch(() => {});
  const waiting = asking ? setTimeout(() => question.onwaiting?.(), PROMPT_DELAY_MS) : undefined;
  const { result: attempt, forbidden } = await watchCspViolations(url, () =>
    tryFetch(url, { headers, signal }),
  ).finally(() => clearTimeout(waiting));
  if (forbidden) return { diagnosis: { kind: 'policy' } };
  const after = asking ? await permissionFor(target) : permission;
  const isReached = attempt.how === 'answer' || attempt.how === 'elsewhere';
  if (gated && after === 'prompt') setUnasked(isReached);
  if (attempt.how === 'answer') return { response: attempt.response, signal };
  if (attempt.how === 'elsewhere') return { diagnosis: { kind: 'notToolServer' } };

  const isOpen = after === 'granted' || !gated;
  if (attempt.how === 'timeout') {
    return { diagnosis: { kind: after === 'prompt' ? 'permissionUnanswered' : 'tooSlow' } };
  }
  const names = Object.keys(headers);
  if (isOpen && names.length > 0 && (await passes(question, 'GET', {}))) {
    // What goes through without a header of ours fails for it alone.
    return { diagnosis: (await preflight(question, 'GET')) ?? { kind: 'preflightRefused' } };
  }
  const [answered, connected] = (await aside) ?? [];
  return { diagnosis: await silence(question, { gated, permission: after, answered, connected }) };
}

/** What a server means by a status, where it is none of success. */
export async function diagnosisOfResponse(
  response: Response,
  question: Pick<ProbeRequest, 'headers'>,
): Promise<Diagnosis | undefined> {
  const { status } = response;
  if (status < 400) return undefined;
  const said = (await textOf(response, MAX_ERROR_LENGTH).catch(() => '')) ?? '';
  return diagnosisOfStatus(status, said, question);
}

/** What it means, and says beside it. */
export function diagnosisOfStatus(
  status: number,
  said: string,
  { headers }: Pick<ProbeRequest, 'headers'>,
): Diagnosis {
  // So says an MCP server that guards itself against pages from elsewhere.
  if (status === 403 && /origin/i.test(said)) return { kind: 'cors' };
  if (status !== 401 && status !== 403) return { kind: 'wrongPath', status };
  return { kind: 'needsKey', given: Object.keys(headers).length > 0, status };
}

/** What a preflight refuses: one header, the method, or everything. */
export async function preflight(
  question: ProbeRequest,
  method: 'GET' | 'POST',
): Promise<Diagnosis | undefined> {
  const json = { 'content-type': 'application/json' };
  const { headers } = question;
  if (await passes(question, method, { ...headers, ...json })) return undefined;
  if (!(await passes(question, 'GET', json))) return { kind: 'preflightRefused' };
  if (!(await passes(question, method, json))) return { kind: 'preflightMethod', method };
  for (const [name, value] of Object.entries(headers)) {
    const alone = { ...json, [name]: value };
    if (!(await passes(question, method, alone))) return { kind: 'preflightHeader', header: name };
  }
  return { kind: 'preflightRefused' };
}

/** Does nothing anywhere: MCP servers answer it, and others do not know it. */
const PING = JSON.stringify({ jsonrpc: '2.0', id: 'ping', method: 'ping' });

async function passes(
  { url, signal: outer }: ProbeRequest,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
): Promise<boolean> {
  const signal = timeoutSignal(PROBE_TIMEOUT_MS, { asking: false, signal: outer });
  const body = method === 'POST' ? PING : undefined;
  const attempt = await tryFetch(url, { method, headers, body, signal });
  if (attempt.how === 'answer') cancelBody(attempt.response);
  return attempt.how !== 'error';
}

interface Seen {
  gated: boolean;
  permission: Permission;
  /** What is known already. */
  answered?: Answers;
  connected?: Connects;
}

/** Why nothing that can be read comes back. */
async function silence({ url, signal: outer }: ProbeRequest, seen: Seen): Promise<Diagnosis> {
  const within = () => timeoutSignal(PROBE_TIMEOUT_MS, { asking: false, signal: outer });
  const answered = seen.answered ?? (await answers(url, within()));
  if (answered === 'yes') return { kind: 'cors' };
  if (answered === 'timeout') return { kind: 'tooSlow' };
  const connected = seen.connected ?? (await connects(url, within()));
  if (connected === 'timeout') return { kind: 'tooSlow' };
  if (connected === 'yes')
    return seen.gated ? permissionDiagnosis(seen.permission) : { kind: 'cors' };
  const target = new URL(url);
  const isSecure = target.protocol === 'https:';
  const other = new URL(url);
  other.protocol = isSecure ? 'http:' : 'https:';
  other.port = target.port || (isSecure ? '443' : '80');
  if ((await answers(other.href, within())) === 'yes') {
    return { kind: isSecure ? 'useHttp' : 'useHttps' };
  }
  // A server that closes at once looks like a closed port.
  if (!isSecure) return { kind: 'notRunningOrNotHttp' };
  if (!seen.gated) return { kind: 'tlsOrNotRunning' };
  const listens = (await connects(other.href, within())) === 'yes';
  return { kind: listens ? 'tlsNotTrusted' : 'notRunning' };
}

/** Somebody listens, and yet nothing came of it, on a page that needs a permission. */
export function permissionDiagnosis(permission: Permission): Diagnosis {
  if (!isSecureContext) return { kind: 'permissionNeedsHttps' };
  switch (permission) {
    case 'denied':
      return { kind: 'permissionDenied' };
    case 'prompt':
      return { kind: 'permissionDismissed' };
    case 'granted':
      return { kind: 'notHttp' };
    case 'unknown':
      return { kind: 'cors' };
  }
}
