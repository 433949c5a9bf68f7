// The experts that this person sees.
import { api } from '$lib/api/client';
import type { ExpertId, ExpertView } from '$lib/api/types';
import { Refresher } from '$lib/refresher';
import { ResponseOrder } from '$lib/responseOrder';
import { expertChanges } from './events';

/** Whoever answers in a chat that has no expert. */
export const GENERAL_ID = 'general';

export class Experts {
  all = $state.raw<readonly ExpertView[]>([]);
  loaded = $state(false);
  /** Those that are not hidden. */
  listed = $derived(this.all.filter(({ hidden }) => !hidden));

  #order = new ResponseOrder();
  #refresher = new Refresher(() => this.#read());

  /** Never fails: what cannot be read is read again later. */
  refresh(): Promise<void> {
    return this.#refresher.now();
  }

  /** Called on change events. */
  refreshSoon(): void {
    this.#refresher.soon();
    expertChanges.emit();
  }

  /** Nothing named is the general one. Absent where it is gone, or not known yet. */
  find(id: ExpertId = GENERAL_ID): ExpertView | undefined {
    return this.all.find((expert) => expert.id === id);
  }

  async #read(): Promise<void> {
    const isNewest = this.#order.send();
    const all = await api.experts();
    if (!isNewest()) return;
    this.all = all;
    this.loaded = true;
  }
}
