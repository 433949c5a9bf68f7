// Whether the browser lets a page from elsewhere talk to this machine. Chromium asks the
// person first; any request makes it ask, even one to a port where nobody listens.
import { loadSetting, saveSetting } from '$lib/storage';
import { isLoopback, isNearby } from './address';

export type Permission = 'granted' | 'prompt' | 'denied' | 'unknown';

/** Whether requests there are gated at all. A page cannot know its own address space, so this is
    a guess: one that a machine nearby serves looks gated and is not. */
export function isGated(target: URL, page: Location | URL = location): boolean {
  if (isLoopback(page.hostname)) return false;
  return isLoopback(target.hostname) || isNearby(target.hostname);
}

/** What the person has said so far. Where nothing is gated this means nothing. */
export async function permissionFor(target: URL): Promise<Permission> {
  const name = isLoopback(target.hostname) ? 'loopback-network' : 'local-network';
  return (await query(name))?.state ?? (await query('local-network-access'))?.state ?? 'unknown';
}

/** Set when requests succeeded without a prompt: this page is not gated. */
const UNPROMPTED_KEY = 'local.unasked';

/** Whether a request there would make the browser ask the person. */
export async function willPrompt(target: URL): Promise<boolean> {
  const mayBe = isGated(target) && loadSetting(UNPROMPTED_KEY) !== 'yes';
  return mayBe && (await permissionFor(target)) === 'prompt';
}

export function setUnasked(unasked: boolean): void {
  saveSetting(UNPROMPTED_KEY, unasked ? 'yes' : '');
}

/** Calls back whenever that changes, until the function it returns is called. */
export function onPermissionChange(changed: () => void): () => void {
  let stopped = false;
  const statuses: PermissionStatus[] = [];
  const listen = async (name: string) => {
    const status = await query(name);
    if (!status || stopped) return;
    statuses.push(status);
    status.addEventListener('change', changed);
  };
  void listen('loopback-network');
  void listen('local-network');
  return () => {
    stopped = true;
    for (const status of statuses) status.removeEventListener('change', changed);
  };
}

async function query(name: string): Promise<PermissionStatus | undefined> {
  try {
    return await navigator.permissions.query({ name: name as PermissionName });
  } catch {
    // A browser that does not know the name does not gate either, or does not say so.
    return undefined;
  }
}
