// The computer that this browser is on: known from before, one that a person recognises among
// those that Tenon knows, or a new one.
import { devices } from '$lib/api/devices';
import type { DeviceInfo, DeviceView } from '$lib/api/types';
import { freshId, onDeviceChange, storedDevice, storeDevice } from './device';

export class Computer {
  /** Absent while nothing of it had to be registered, and while a person is asked. */
  info = $state.raw<DeviceInfo | undefined>(storedDevice());
  /** Those among which a person has to choose, while that is open. */
  candidates = $state.raw<readonly DeviceView[]>();
  readonly #defaultName: () => string;
  #asking?: Promise<void>;

  constructor(defaultName: () => string) {
    this.#defaultName = defaultName;
  }

  /** Another tab may say which one it is. Until the function it returns is called. */
  start(changed: () => void): () => void {
    this.info = storedDevice();
    return onDeviceChange(() => {
      this.info = storedDevice();
      this.candidates = undefined;
      changed();
    });
  }

  /** Finds out which one it is; a person is asked where Tenon knows others. Fails with what the
      server said, and can be called again. */
  identify(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  /** The others that Tenon knows. Fails with what the server said. */
  async others(): Promise<readonly DeviceView[]> {
    const known = await devices.all();
    return known.filter(({ id, servers }) => id !== this.info?.id && servers.length > 0);
  }

  /** It is one that Tenon knows. */
  async adopt({ id, name }: DeviceInfo): Promise<void> {
    const before = this.info;
    this.#set({ id, name });
    // What this browser offered under its old id is offered under the new one.
    if (before && before.id !== id) await devices.forget(before.id).catch(() => {});
  }

  /** It is another one, or is called something else from now on. */
  name(name: string): void {
    this.#set({ id: this.info?.id ?? freshId(), name });
  }

  #set(info: DeviceInfo): void {
    this.info = info;
    this.candidates = undefined;
    storeDevice(info);
  }

  async #ask(): Promise<void> {
    if (this.info || this.candidates) return;
    const others = await this.others();
    if (this.info) return;
    if (others.length > 0) this.candidates = others;
    else this.name(this.#defaultName());
  }
}
