// Capabilities in a handshake: a dialect of MCP whose servers answer `initialize` with tools that are
// described as HTTP requests.
import { hasCapabilities, isObject, titleOf } from './description';
import { MAX_DOCUMENT_LENGTH, PROBE_TIMEOUT_MS, type ProbeRequest } from './diagnose';
import { textOf, tryFetch } from './probe';
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

/** The description as text, and its title. Absent where the server says nothing of the kind. */
export async function describedInHandshake({
  url,
  headers,
  signal,
}: ProbeRequest): Promise<{ text: string; title: string } | undefined> {
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
    if (text === undefined) return undefined;
    const answer: unknown = JSON.parse(text);
    const result = isObject(answer) && 'result' in answer ? answer.result : undefined;
    if (!isObject(result) || !hasCapabilities(result)) return undefined;
    return { text: JSON.stringify(result), title: titleOf(result) };
  } catch {
    // Whatever it is, it is not this.
    return undefined;
  }
}
