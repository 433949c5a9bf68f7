// How the state of an endpoint is shown.
import type { LocalEndpoint } from '$lib/api/types';
import type { Diagnosis } from './diagnose';
import { DEFAULT_URL } from './endpoints.svelte';

/** "localhost:8000/mcp" */
export function endpointName({ url, name }: Pick<LocalEndpoint, 'url' | 'name'>): string {
  return name || shortUrl(url);
}

export function hostOf(url: string): string {
  return new URL(url).host;
}

export function shortUrl(url: string): string {
  const { host, pathname, protocol } = new URL(url);
  return `${protocol === 'https:' ? 'https://' : ''}${host}${pathname.replace(/\/$/, '')}`;
}

/** The default address, which nobody has configured: an mcpo often runs there. */
export function isUntouched({ url, name, kind, enabled }: LocalEndpoint): boolean {
  return url === DEFAULT_URL && !name && kind === 'auto' && enabled;
}

/** A missing server at the default address is no problem worth showing. */
export function isQuiet(endpoint: LocalEndpoint, { kind }: Diagnosis): boolean {
  return isUntouched(endpoint) && (kind === 'notRunning' || kind === 'notRunningOrNotHttp');
}

/** A matter of browser permission, independent of the address. */
export function isPermission({ kind }: Diagnosis): boolean {
  return kind.startsWith('permission');
}

/** Another address of the same server that may work. */
export function alternativeUrl(url: string, { kind }: Diagnosis): string | undefined {
  const other = new URL(url);
  if (kind === 'useHttp') other.protocol = 'http:';
  else if (kind === 'useHttps') other.protocol = 'https:';
  // The policy of the page has no words for this one.
  else if (kind === 'policy' && other.hostname === '[::1]') other.hostname = 'localhost';
  else return undefined;
  return other.href.replace(/\/$/, '');
}
