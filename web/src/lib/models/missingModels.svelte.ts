// Models that a chat should be answered by and that are gone.
import type { ModelId, ModelRef } from '$lib/api/types';
import type { Models } from './models.svelte';

export class MissingModels {
  #models: Models;
  #lookingFor?: ModelId;
  /** Those that were still gone at the second look. */
  #sure = $state.raw<ReadonlySet<ModelId>>(new Set());

  constructor(models: Models) {
    this.#models = models;
  }

  /** Whether it is gone for sure, and not because it was deleted here. */
  has(id: ModelId): boolean {
    return this.#sure.has(id) && !this.#models.wasRemoved(id);
  }

  /** An endpoint that is slow to answer is missing at first, and there at the second look. */
  async lookAgainFor({ id }: ModelRef, isMissing: () => boolean): Promise<void> {
    if (this.#lookingFor === id || this.#sure.has(id)) return;
    this.#lookingFor = id;
    await this.#models.refresh();
    this.#lookingFor = undefined;
    if (isMissing()) this.#sure = new Set(this.#sure).add(id);
  }
}
