// What is told about a server in a line.
import type { SourceDetail } from '$lib/api/types';
import type { Words } from '$lib/i18n/en';
import type { SourcesWords } from '$lib/i18n/sources/en';
import { secretNamed } from './unset';

/** What it waits for from the person who looks at it, before it can be of use to them. */
export function needOf(source: SourceDetail): 'login' | 'secrets' | undefined {
  if (!source.enabled) return undefined;
  if (source.unset.some((variable) => secretNamed(variable).mine)) return 'secrets';
  return source.login === 'needed' ? 'login' : undefined;
}

export function factsOf(
  source: SourceDetail,
  w: SourcesWords,
  t: Pick<Words, 'toolCount' | 'separator'>,
): { line: string[]; about: string } {
  const { origin, reach, server, state, tools } = source;
  const need = needOf(source);
  const states = { login: w.needsLogIn, secrets: w.needsSecrets };
  const line = [
    need ? states[need] : w.states[state],
    tools > 0 || (state !== 'starting' && !need) ? t.toolCount(tools) : '',
    reach ? w.transports[reach.transport] : '',
    source.login === 'connected' ? w.loggedIn : '',
    origin.kind === 'file' ? w.fromFile(origin.file) : '',
    state === 'sleeping' ? w.sleepingMeans : '',
  ];
  const about = [
    server ? w.speaks(server.name, server.version) : '',
    server && source.kind !== 'openapi' ? w.protocol(server.protocol) : '',
    source.pid === undefined ? '' : w.process(source.pid),
    source.restarts > 0 ? w.restarts(source.restarts) : '',
    origin.kind === 'file' ? w.fileMeans : '',
  ];
  return { line: line.filter(Boolean), about: about.filter(Boolean).join(t.separator) };
}
