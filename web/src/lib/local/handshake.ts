// Capabilities in a handshake: a dialect of MCP whose servers answer `initialize` with tools that
// are described as HTTP requests.
import { dataOf } from '$lib/api/sse';
import { hasCapabilities, isObject, titleOf } from './description';
import { MAX_DOCUMENT_LENGTH, PROBE_TIMEOUT_MS, type ProbeRequest } from './diagnose';
import { cancelBody, textOf, tryFetch } from './probe';
import { timeoutSignal } from './timeouts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'tenon', version: '1' },
  },
};

/** Whoever waited for a server before does not wait as long again. */
const STREAM_TIMEOUT_MS = 1_000;

interface Description {
  /** JSON. */
  text: string;
  title: string;
}

/** Absent where the server says nothing of the kind. */
export async function describedInHandshake(
  request: ProbeRequest,
): Promise<Description | undefined> {
  return (await posted(request)) ?? (await streamed(request, PROBE_TIMEOUT_MS));
}

/** The same over a stream alone, from a server that a client has waited for in vain: what it has
    to say is there at once. */
export function describedInStream(request: ProbeRequest): Promise<Description | undefined> {
  return streamed(request, STREAM_TIMEOUT_MS);
}

async function posted({ url, headers, signal }: ProbeRequest): Promise<Description | undefined> {
  const attempt = await tryFetch(url, {
    method: 'POST',
    headers: { ...headers, accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(INITIALIZE),
    signal: timeoutSignal(PROBE_TIMEOUT_MS, { asking: false, signal }),
  });
  if (attempt.how !== 'answer') return undefined;
  const { response } = attempt;
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  try {
    const text = response.ok && isJson ? await textOf(response, MAX_DOCUMENT_LENGTH) : undefined;
    return text === undefined ? undefined : described(text);
  } catch {
    // Whatever it is, it is not this.
    return undefined;
  }
}

/** As an event of a stream, which is all that some servers have. It is read until it is there. */
async function streamed(
  { url, headers, signal }: ProbeRequest,
  withinMs: number,
): Promise<Description | undefined> {
  const attempt = await tryFetch(url, {
    headers: { ...headers, accept: 'text/event-stream' },
    signal: timeoutSignal(withinMs, { asking: false, signal }),
  });
  if (attempt.how !== 'answer') return undefined;
  const { response } = attempt;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!response.ok || !isStream || !response.body) {
    cancelBody(response);
    return undefined;
  }
  try {
    for await (const data of dataOf(response.body, MAX_DOCUMENT_LENGTH)) {
      const found = described(data);
      if (found) return found;
    }
  } catch {
    // Whatever it is, it is not this.
  }
  return undefined;
}

/** Of an answer to `initialize`. */
function described(text: string): Description | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  const result = isObject(answer) && 'result' in answer ? answer.result : undefined;
  if (!isObject(result) || !hasCapabilities(result)) return undefined;
  return { text: JSON.stringify(result), title: titleOf(result) };
}
