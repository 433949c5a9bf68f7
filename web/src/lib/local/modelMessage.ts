// Why a call failed, in one English sentence for the model.
import type { Diagnosis } from './diagnose';

/** Whether the browser kept the call from being made at all. */
export function isForbidden({ kind }: Diagnosis): boolean {
  return FORBIDDEN.has(kind);
}

const FORBIDDEN: ReadonlySet<Diagnosis['kind']> = new Set([
  'blockedPort',
  'mixedContent',
  'policy',
  'permissionAsk',
  'permissionUnanswered',
  'permissionDismissed',
  'permissionDenied',
  'permissionNeedsHttps',
  'cors',
  'preflightHeader',
  'preflightMethod',
  'preflightRefused',
  'hiddenHeader',
  'tlsNotTrusted',
]);

export function modelMessage(diagnosis: Diagnosis, url: string): string {
  switch (diagnosis.kind) {
    case 'permissionAsk':
    case 'permissionUnanswered':
    case 'permissionDismissed':
    case 'permissionDenied':
    case 'permissionNeedsHttps':
      return `The user's browser does not let this page reach ${url}: it has no permission for local addresses.`;
    case 'blockedPort':
    case 'mixedContent':
    case 'policy':
      return `The user's browser does not let this page reach ${url}.`;
    case 'cors':
    case 'preflightHeader':
    case 'preflightMethod':
    case 'preflightRefused':
    case 'hiddenHeader':
      return `The server at ${url} does not let this page talk to it (CORS).`;
    case 'tlsNotTrusted':
    case 'tlsOrNotRunning':
      return `The user's browser does not trust the certificate of ${url}, or nothing runs there.`;
    case 'needsKey':
      return `The server at ${url} wants a key, or another one than it was given.`;
    case 'tooSlow':
      return `The server at ${url} does not answer in time.`;
    default:
      return `No tool server answers at ${url} on the user's computer now.`;
  }
}
