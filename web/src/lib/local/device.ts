// Which computer this is, as its browsers remember it, and which page of it. Browsers of one
// computer have the same id, so that its tools are there once.
import { browserOf } from '$lib/account/browser';
import type { DeviceInfo, SourceView } from '$lib/api/types';
import { loadSetting, onChangedInOtherTab, saveSetting } from '$lib/storage';

const ID_KEY = 'device';
const NAME_KEY = 'deviceName';

/** One load of this page. */
export const pageId = freshId();

/** Where nothing can be remembered, it is known for as long as the page is there. */
let unstored: DeviceInfo | undefined;

/** Absent until it was needed, or a person said which one it is. */
export function storedDevice(): DeviceInfo | undefined {
  const id = loadSetting(ID_KEY);
  if (!id) return unstored;
  // Before computers had names, browsers were told apart by what they are.
  const name = loadSetting(NAME_KEY) || browserOf(navigator.userAgent).join(' on ');
  return { id, name: name || 'a browser' };
}

export function storeDevice(device: DeviceInfo): void {
  saveSetting(ID_KEY, device.id);
  saveSetting(NAME_KEY, device.name);
  unstored = loadSetting(ID_KEY) === device.id ? undefined : device;
}

export function onDeviceChange(changed: () => void): () => void {
  const stops = [ID_KEY, NAME_KEY].map((key) => onChangedInOtherTab(key, changed));
  return () => stops.forEach((stop) => stop());
}

/** "macOS", "Linux"; empty where that is not known. */
export function systemName(): string {
  return browserOf(navigator.userAgent)[1] ?? '';
}

/** Whether a source is on the computer that this page is on. */
export function isHere({ local }: Pick<SourceView, 'local'>): boolean {
  return local !== undefined && local.deviceId === storedDevice()?.id;
}

/** `crypto.randomUUID` is for pages over https alone. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
