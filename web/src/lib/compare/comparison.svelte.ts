// Two models that answer the same messages, each in a temporary chat of its own. One of the chats
// can be kept; leaving deletes what was not.
import { api } from '$lib/api/client';
import type { ChatId, ModelId, ServerFrame } from '$lib/api/types';
import type { Conversation } from '$lib/chat/conversation.svelte';
import type { DraftContent } from '$lib/chat/draft.svelte';
import { language } from '$lib/i18n/language.svelte';
import { storedDevice } from '$lib/local/device';
import { loadSetting, saveSetting } from '$lib/storage';
import { freshUuid } from '$lib/uuid';

const STORAGE_KEY = 'comparison';

interface StoredComparison {
  models: readonly ModelId[];
  chatIds: readonly (ChatId | undefined)[];
}

export class ComparisonSide {
  chatId = $state<ChatId>();
  /** Why the last message did not reach it. */
  failure = $state.raw<unknown>();

  #left = false;

  constructor(
    readonly modelId: ModelId,
    readonly conversation: Conversation,
  ) {}

  open(chatId: ChatId): void {
    this.chatId = chatId;
    this.conversation.begin(chatId);
  }

  /** Whether it was sent. What could not be is shown at this side; the other one may have got it. */
  async send({ text, files = [] }: DraftContent): Promise<boolean> {
    const turnId = freshUuid();
    this.failure = undefined;
    const takeBack = this.conversation.announce({ text, files, turnId });
    try {
      const chatId = this.chatId ?? (await api.createChat({ temporary: true })).id;
      // The page was left meanwhile, and nobody will follow this chat.
      if (this.#left) {
        void api.deleteChat(chatId).catch(() => {});
        return false;
      }
      if (!this.chatId) this.open(chatId);
      await api.startTurn(chatId, {
        ...{ turnId, text, modelId: this.modelId, language: language.code },
        deviceId: storedDevice()?.id,
        ...(files.length > 0 && { fileIds: files.map(({ id }) => id) }),
      });
      return true;
    } catch (error) {
      takeBack();
      this.failure = error;
      return false;
    }
  }

  leave(): void {
    this.#left = true;
    this.conversation.close();
  }
}

export class Comparison {
  readonly sides: readonly [ComparisonSide, ComparisonSide];
  busy = $derived.by(() =>
    this.sides.some(({ conversation: { running, sending } }) => running || sending),
  );
  running = $derived.by(() => this.sides.some(({ conversation }) => conversation.running));

  #kept = false;
  #left = false;

  constructor(models: readonly [ModelId, ModelId], newConversation: () => Conversation) {
    const [first, second] = models;
    this.sides = [
      new ComparisonSide(first, newConversation()),
      new ComparisonSide(second, newConversation()),
    ];
    const stored = read();
    // After a reload it goes on where it was.
    if (stored?.models.join(' ') === models.join(' ')) {
      this.sides.forEach((side, index) => {
        const chatId = stored.chatIds[index];
        if (chatId) side.open(chatId);
      });
    }
  }

  take(frame: ServerFrame): void {
    for (const { conversation } of this.sides) conversation.take(frame);
  }

  /** Whether it reached one of them at least. */
  async send(content: DraftContent): Promise<boolean> {
    const sent = await Promise.all(this.sides.map((side) => side.send(content)));
    const arrived = sent.includes(true);
    if (this.#left) return arrived;
    const stored: StoredComparison = {
      models: this.sides.map(({ modelId }) => modelId),
      chatIds: this.sides.map(({ chatId }) => chatId),
    };
    saveSetting(STORAGE_KEY, JSON.stringify(stored));
    return arrived;
  }

  /** Never fails: a turn that has just ended cannot be stopped. */
  async stop(): Promise<void> {
    const running = this.sides.flatMap(({ conversation }) => conversation.running ?? []);
    await Promise.allSettled(running.map(({ id }) => api.cancelTurn(id)));
  }

  /** One chat stays, and the other one goes. Fails with what the server said. */
  async keep(side: ComparisonSide): Promise<ChatId | undefined> {
    const { chatId } = side;
    if (!chatId) return undefined;
    await api.changeChat(chatId, { temporary: false });
    this.#kept = true;
    this.#discard(this.sides.filter((other) => other !== side));
    return chatId;
  }

  /** The page is left. */
  leave(): void {
    this.#left = true;
    for (const side of this.sides) side.leave();
    if (!this.#kept) this.#discard(this.sides);
  }

  #discard(sides: readonly ComparisonSide[]): void {
    saveSetting(STORAGE_KEY, '');
    // The server deletes them a day later where this does not reach it.
    for (const { chatId } of sides) if (chatId) void api.deleteChat(chatId).catch(() => {});
  }
}

function read(): StoredComparison | undefined {
  try {
    const text = loadSetting(STORAGE_KEY);
    return text ? (JSON.parse(text) as StoredComparison) : undefined;
  } catch {
    return undefined;
  }
}
