// Which browser this is, and which of its pages.
import { browserOf } from '$lib/account/browser';
import type { DeviceInfo, SourceView } from '$lib/api/types';
import { loadSetting, saveSetting } from '$lib/storage';

const KEY = 'device';

/** One load of this page. */
export const pageId = freshId();

export function thisDevice(): DeviceInfo {
  let id = loadSetting(KEY);
  if (!id) {
    // Where nothing can be remembered, every page is a browser of its own.
    id = pageId;
    saveSetting(KEY, id);
  }
  return { id, name: browserOf(navigator.userAgent).join(' on ') || 'a browser' };
}

/** Whether a source is on the computer that this page is on. */
export function isHere({ local }: Pick<SourceView, 'local'>): boolean {
  return local !== undefined && local.deviceId === thisDevice().id;
}

/** `crypto.randomUUID` is for pages over https alone. */
function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
