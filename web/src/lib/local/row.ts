// How an address stands, as its line tells it.
import type { LocalEndpoint } from '$lib/api/types';
import type { Trouble } from './diagnose';
import { DEFAULT_URL } from './endpoints.svelte';

/** "localhost:8000/mcp" */
export function nameOf({ url, name }: Pick<LocalEndpoint, 'url' | 'name'>): string {
  return name || shortOf(url);
}

export function hostOf(url: string): string {
  return new URL(url).host;
}

export function shortOf(url: string): string {
  const { host, pathname, protocol } = new URL(url);
  return `${protocol === 'https:' ? 'https://' : ''}${host}${pathname.replace(/\/$/, '')}`;
}

/** Nobody asked for this address: it is looked at because an mcpo is often there. */
export function isUntouched({ url, name, kind, enabled }: LocalEndpoint): boolean {
  return url === DEFAULT_URL && !name && kind === 'auto' && enabled;
}

/** That nobody is there is no news where nobody was promised. */
export function isQuiet(endpoint: LocalEndpoint, { kind }: Trouble): boolean {
  return isUntouched(endpoint) && (kind === 'notRunning' || kind === 'notRunningOrNotHttp');
}

/** It is between the page and the browser, whatever the address is. */
export function isPermission({ kind }: Trouble): boolean {
  return kind.startsWith('permission');
}

/** The same server at an address that may do, where there is one. */
export function insteadOf(url: string, { kind }: Trouble): string | undefined {
  const other = new URL(url);
  if (kind === 'useHttp') other.protocol = 'http:';
  else if (kind === 'useHttps') other.protocol = 'https:';
  // The policy of the page has no words for this one.
  else if (kind === 'policy' && other.hostname === '[::1]') other.hostname = 'localhost';
  else return undefined;
  return other.href.replace(/\/$/, '');
}
