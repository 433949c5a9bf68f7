// The models that exist, which of them the open chat was given, and how their
// tests went.
import { api } from '$lib/api/client';
import type {
  ChatId,
  EndpointView,
  ModelChange,
  ModelId,
  ModelRef,
  ModelView,
  NewModel,
} from '$lib/api/types';
import { Refresher } from '$lib/refresher';
import { ResponseOrder } from '$lib/responseOrder';
import { loadSetting, saveSetting } from '$lib/storage';
import { defaultModel } from './choice';
import { Evaluations } from './evaluations.svelte';
import {
  startModelTest,
  finishModelTest,
  cancelModelTest,
  applyTestFrame,
  type ModelTest,
} from './modelTest';

export class Models {
  all = $state.raw<readonly ModelView[]>([]);
  endpoints = $state.raw<readonly EndpointView[]>([]);
  loaded = $state(false);
  /** Why the list could not be had, when it was last asked for. */
  failure = $state.raw<unknown>();
  modelTests = $state.raw<ReadonlyMap<ModelId, ModelTest>>(new Map());
  evaluations = new Evaluations();
  /** What the reader picked for the open chat. */
  picked = $state.raw<ModelRef>();

  default = $derived(defaultModel(this.all));

  #chatId?: ChatId;
  #order = new ResponseOrder();
  #refresher = new Refresher(() => this.#read());
  /** Models deleted here are not reported as missing. */
  #removed = $state.raw<ReadonlySet<ModelId>>(new Set());
  #stops = new Map<ModelId, AbortController>();

  constructor(chatId: ChatId | undefined) {
    this.open(chatId);
  }

  /** Never fails: `failure` holds the error, and what cannot be read is read again later. */
  refresh(): Promise<void> {
    return this.#refresher.now();
  }

  /** Called on change events. */
  refreshSoon(): void {
    this.#refresher.soon();
  }

  open(chatId: ChatId | undefined): void {
    this.#chatId = chatId;
    this.picked = parse(loadSetting(key(chatId)));
  }

  /** The chat that was new now has a name, or is new again, and keeps its choice. */
  moveTo(from: ChatId | undefined, to: ChatId | undefined): void {
    saveSetting(key(to), loadSetting(key(from)) ?? '');
    saveSetting(key(from), '');
    if (this.#chatId === from) this.#chatId = to;
  }

  forget(chatId: ChatId): void {
    saveSetting(key(chatId), '');
  }

  pick({ id, name }: ModelRef): void {
    this.picked = { id, name };
    saveSetting(key(this.#chatId), JSON.stringify(this.picked));
  }

  /** The model of a chat that is not open. */
  remember(chatId: ChatId, { id, name }: ModelRef): void {
    saveSetting(key(chatId), JSON.stringify({ id, name }));
  }

  /** Nothing is picked for the open chat any more. */
  clearPick(): void {
    this.picked = undefined;
    saveSetting(key(this.#chatId), '');
  }

  wasRemoved(id: ModelId): boolean {
    return this.#removed.has(id);
  }

  /** The result is its id. */
  async add(model: NewModel): Promise<ModelId> {
    const { id } = await api.createModel(model);
    await this.refresh();
    return id;
  }

  /** One after the other, up to the first that is refused. `done` is told how many are added. */
  async addAll(models: readonly NewModel[], done: (count: number) => void): Promise<ModelId[]> {
    const ids: ModelId[] = [];
    try {
      for (const model of models) {
        const { id } = await api.createModel(model);
        done(ids.push(id));
      }
    } finally {
      await this.refresh();
    }
    return ids;
  }

  async change(id: ModelId, change: ModelChange): Promise<void> {
    await api.changeModel(id, change);
    await this.refresh();
  }

  async remove(id: ModelId): Promise<void> {
    this.stop(id);
    await api.deleteModel(id);
    this.evaluations.forget(id);
    this.modelTests = new Map([...this.modelTests].filter(([other]) => other !== id));
    this.#removed = new Set(this.#removed).add(id);
    if (this.picked?.id === id) this.clearPick();
    await this.refresh();
  }

  /** Tries a model. How it goes stands in `modelTests`. */
  async test(id: ModelId): Promise<void> {
    this.stop(id);
    const stop = new AbortController();
    this.#stops.set(id, stop);
    const isCurrent = () => this.#stops.get(id) === stop;
    const set = (modelTest: ModelTest) =>
      (this.modelTests = new Map(this.modelTests).set(id, modelTest));
    let modelTest = startModelTest();
    set(modelTest);
    try {
      for await (const frame of api.testModel(id, stop.signal)) {
        if (!isCurrent()) return;
        set((modelTest = applyTestFrame(modelTest, frame)));
      }
      if (isCurrent()) set(finishModelTest(modelTest));
    } catch (error) {
      if (isCurrent()) set(finishModelTest(modelTest, error));
    } finally {
      if (isCurrent()) this.#stops.delete(id);
    }
    // A test finds out how the model calls tools, and the server keeps that.
    await this.refresh();
  }

  /** Ends a test that runs; there may be none. */
  stop(id: ModelId): void {
    this.#stops.get(id)?.abort();
    this.#stops.delete(id);
    const modelTest = this.modelTests.get(id);
    if (modelTest) this.modelTests = new Map(this.modelTests).set(id, cancelModelTest(modelTest));
  }

  async #read(): Promise<void> {
    const isNewest = this.#order.send();
    // The endpoints only say why something is not in the list, which is shown without them.
    const reads = [this.#readAll(isNewest), this.#readEndpoints(isNewest)];
    for (const read of await Promise.allSettled(reads)) {
      if (read.status === 'rejected') throw read.reason;
    }
  }

  async #readAll(isNewest: () => boolean): Promise<void> {
    try {
      const all = await api.models();
      if (!isNewest()) return;
      this.all = all;
      this.loaded = true;
      this.failure = undefined;
    } catch (error) {
      if (isNewest()) this.failure = error;
      throw error;
    }
  }

  async #readEndpoints(isNewest: () => boolean): Promise<void> {
    const endpoints = await api.endpoints();
    if (isNewest()) this.endpoints = endpoints;
  }
}

function key(chatId: ChatId | undefined): string {
  return `model.${chatId ?? 'new'}`;
}

function parse(text: string | undefined): ModelRef | undefined {
  try {
    const { id, name } = JSON.parse(text ?? '{}') as Partial<ModelRef>;
    return id && name ? { id, name } : undefined;
  } catch {
    return undefined;
  }
}
