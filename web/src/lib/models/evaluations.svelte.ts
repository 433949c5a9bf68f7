// The evaluations that run or have run, by model.
import { api } from '$lib/api/client';
import type { ModelId } from '$lib/api/types';
import {
  applyEvaluationFrame,
  cancelEvaluation,
  finishEvaluation,
  startEvaluation,
  type ModelEvaluation,
} from './evaluation';

export class Evaluations {
  all = $state.raw<ReadonlyMap<ModelId, ModelEvaluation>>(new Map());

  #stops = new Map<ModelId, AbortController>();

  /** How it goes stands in `all`. */
  async start(id: ModelId): Promise<void> {
    this.stop(id);
    const stop = new AbortController();
    this.#stops.set(id, stop);
    const isCurrent = () => this.#stops.get(id) === stop;
    let evaluation = startEvaluation();
    this.#set(id, evaluation);
    try {
      for await (const frame of api.evaluateModel(id, stop.signal)) {
        if (!isCurrent()) return;
        this.#set(id, (evaluation = applyEvaluationFrame(evaluation, frame)));
      }
      if (isCurrent()) this.#set(id, finishEvaluation(evaluation));
    } catch (error) {
      if (isCurrent()) this.#set(id, finishEvaluation(evaluation, error));
    } finally {
      if (isCurrent()) this.#stops.delete(id);
    }
  }

  /** Ends one that runs; there may be none. */
  stop(id: ModelId): void {
    this.#stops.get(id)?.abort();
    this.#stops.delete(id);
    const evaluation = this.all.get(id);
    if (evaluation) this.#set(id, cancelEvaluation(evaluation));
  }

  /** Of a model that is gone. */
  forget(id: ModelId): void {
    this.stop(id);
    this.all = new Map([...this.all].filter(([other]) => other !== id));
  }

  #set(id: ModelId, evaluation: ModelEvaluation): void {
    this.all = new Map(this.all).set(id, evaluation);
  }
}
