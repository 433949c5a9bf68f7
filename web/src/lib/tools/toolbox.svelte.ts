// The tools that exist, and which of them the open chat may use. Only what was
// switched off is remembered, so that a tool that arrives tomorrow is on.
import { api } from '$lib/api/client';
import type { ChatId, ToolId, ToolView } from '$lib/api/types';
import { recall, remember } from '$lib/storage';

export class Toolbox {
  tools = $state.raw<readonly ToolView[]>([]);
  loaded = $state(false);
  #off = $state.raw<ReadonlySet<ToolId>>(new Set());
  #chatId?: ChatId;

  usable = $derived(this.tools.filter((tool) => tool.enabled && tool.source.state !== 'failed'));
  on = $derived(this.usable.filter((tool) => !this.#off.has(tool.toolId)));

  constructor(chatId: ChatId | undefined) {
    this.open(chatId);
  }

  async refresh(): Promise<void> {
    this.tools = await api.tools();
    this.loaded = true;
  }

  open(chatId: ChatId | undefined): void {
    this.#chatId = chatId;
    this.#off = new Set(recall(key(chatId))?.split(' '));
  }

  /** The chat that was new now has a name, and keeps its choice. */
  moveTo(from: ChatId | undefined, to: ChatId): void {
    remember(key(to), recall(key(from)) ?? '');
    remember(key(from), '');
    if (this.#chatId === from) this.#chatId = to;
  }

  forget(chatId: ChatId): void {
    remember(key(chatId), '');
  }

  isOn(id: ToolId): boolean {
    return !this.#off.has(id);
  }

  switch(ids: readonly ToolId[], on: boolean): void {
    const off = new Set(this.#off);
    for (const id of ids) {
      if (on) off.delete(id);
      else off.add(id);
    }
    this.#off = off;
    remember(key(this.#chatId), [...off].join(' '));
  }

  /**
   * What a turn is told: nothing when nothing is switched off. Otherwise it takes
   * the list of tools to say what is on, and fails where that cannot be had.
   */
  async choice(): Promise<ToolId[] | undefined> {
    // The reader may open another chat, with another choice, while we wait.
    const off = this.#off;
    if (off.size === 0) return undefined;
    if (!this.loaded) await this.refresh();
    return this.usable.map((tool) => tool.toolId).filter((id) => !off.has(id));
  }
}

function key(chatId: ChatId | undefined): string {
  return `tools-off.${chatId ?? 'new'}`;
}
