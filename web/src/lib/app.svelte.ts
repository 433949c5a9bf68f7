// Everything the page holds, joined: the socket feeds the open chat, the open
// chat keeps the list fresh, and what goes wrong is said where it happened.
import { api, ApiError } from './api/client';
import { Socket, type Connection } from './api/socket';
import type {
  AppInfo,
  ChatId,
  Discover,
  Discovered,
  ModelChange,
  ModelId,
  ModelRef,
  NewModel,
  ServerFrame,
} from './api/types';
import { Conversation } from './chat/conversation.svelte';
import { Delivery } from './chat/delivery';
import { Draft } from './chat/draft.svelte';
import { ChatList, UNDO_MS } from './chat/list.svelte';
import { language } from './i18n/language.svelte';
import { chooseModel } from './models/choice';
import { needsTest } from './models/form';
import { Models } from './models/models.svelte';
import { router } from './router.svelte';
import { Toolbox } from './tools/toolbox.svelte';
import { toasts } from './ui/toasts.svelte';

/** How soon the list notices that an answer elsewhere is complete. */
const OTHERS_MS = 4_000;

class App {
  info = $state.raw<AppInfo>();
  connection = $state<Connection>('connecting');

  readonly list = new ChatList((chatId) => {
    this.draft.forget(chatId);
    this.toolbox.forget(chatId);
    this.models.forget(chatId);
  });
  readonly draft = new Draft(router.chatId);
  readonly toolbox = new Toolbox(router.chatId);
  readonly models = new Models(router.chatId);
  readonly conversation: Conversation;
  /** Who answers the next message of the open chat. */
  choice = $derived.by(() =>
    chooseModel({
      models: this.models.loaded ? this.models.all : undefined,
      endpoints: this.models.endpoints,
      info: this.info?.model,
      picked: this.models.picked,
      last: this.conversation.chat?.turns.at(-1)?.model,
    }),
  );
  /** The model that should answer in the open chat and is gone, once that is sure. */
  missing = $derived.by(() => {
    const { missing } = this.choice;
    if (!missing || this.models.wasRemoved(missing.id)) return undefined;
    return this.#surelyMissing.has(missing.id) ? missing : undefined;
  });
  /** Why the list of models could not be had, in words. */
  modelsProblem = $derived(this.models.failure ? inWords(this.models.failure) : '');
  readonly #socket: Socket;
  /** The latest message sent. */
  #delivery?: Delivery;
  /** The toasts that offer to undo a deletion. */
  #undoToasts = new Map<ChatId, number>();
  #lookingFor?: ModelId;
  /** Models that were still gone at the second look. */
  #surelyMissing = $state.raw<ReadonlySet<ModelId>>(new Set());

  constructor() {
    this.#socket = new Socket(`${location.origin.replace(/^http/, 'ws')}/api/ws`, {
      frame: (frame) => this.take(frame),
      connection: (connection) => {
        this.connection = connection;
        // Whatever changed while we were away, no event told us.
        if (connection === 'open') void this.refresh();
      },
    });
    this.conversation = new Conversation(this.#socket);
  }

  /** Until the function it returns is called. */
  start(): () => void {
    const stopSocket = this.#socket.start();
    const seen = () => document.visibilityState === 'visible' && void this.refresh();
    document.addEventListener('visibilitychange', seen);
    const timer = setInterval(() => this.#lookAfterOthers(), OTHERS_MS);
    return () => {
      stopSocket();
      document.removeEventListener('visibilitychange', seen);
      clearInterval(timer);
    };
  }

  /** Follows the address: opens what it names. */
  open(chatId: ChatId | undefined): void {
    if (chatId) {
      // Whoever goes back to a deleted chat wants it back.
      this.#keep(chatId);
      this.conversation.open(chatId);
    } else this.conversation.close();
    this.draft.open(chatId);
    this.toolbox.open(chatId);
    this.models.open(chatId);
  }

  take(frame: ServerFrame): void {
    this.conversation.take(frame);
    const delivery = this.#delivery;
    if (!delivery?.chatId || delivery.proven) return;
    delivery.take(frame);
    if (delivery.proven && delivery.givenUp) this.draft.withdraw(delivery.text, delivery.chatId);
  }

  async refresh(): Promise<void> {
    // A failure needs no words here: the socket fails too, and the page says so.
    await Promise.allSettled([
      this.list.refresh(),
      this.toolbox.refresh(),
      this.models.refresh(),
      api.info().then((info) => (this.info = info)),
    ]);
  }

  /** Sends the draft, or a text that was never in the field. */
  async send(text?: string): Promise<void> {
    const { conversation, draft, toolbox } = this;
    if (conversation.running || conversation.sending) return;
    const message = (text ?? draft.text).trim();
    // The page asks who is to answer before it comes here.
    if (!message || this.choice.undecided) return;
    if (text === undefined) draft.take();
    // The reader may open another chat, with another model, while we wait.
    const modelId = this.choice.send;
    // Whoever sends it nevertheless has accepted who answers.
    if (this.missing) this.models.unpick();
    const takeBack = conversation.announce(message);
    const delivery = (this.#delivery = new Delivery(message, conversation.seq));
    let chatId = router.chatId;
    try {
      const toolIds = await toolbox.choice();
      chatId ??= await this.#createChat();
      delivery.chatId = chatId;
      const { turnId } = await api.startTurn(chatId, { text: message, toolIds, modelId });
      // Nobody listens to a chat that was left meanwhile; the mark makes the list look after it.
      if (router.chatId !== chatId) this.list.update(chatId, { running: turnId });
      if (text === undefined) draft.arrived(chatId);
    } catch (error) {
      takeBack();
      if (chatId && delivery.proven) return draft.arrived(chatId);
      delivery.givenUp = true;
      // A suggestion that failed is kept like a text that was written.
      draft.putBack(message, chatId);
      toasts.show(language.words.notSent(inWords(error)));
    }
  }

  async stop(): Promise<void> {
    const turn = this.conversation.running;
    if (!turn || this.conversation.stopping) return;
    this.conversation.stopping = turn.id;
    try {
      await api.cancelTurn(turn.id);
    } catch (error) {
      this.conversation.stopping = undefined;
      toasts.show(language.words.notStopped(inWords(error)));
    }
  }

  /** An endpoint that is slow to answer is missing at first, and there at the second look. */
  async lookAgainFor({ id }: ModelRef): Promise<void> {
    if (this.#lookingFor === id || this.#surelyMissing.has(id)) return;
    this.#lookingFor = id;
    await this.models.refresh().catch(() => {});
    this.#lookingFor = undefined;
    if (this.choice.missing?.id === id) this.#surelyMissing = new Set(this.#surelyMissing).add(id);
  }

  /** What a model is called on the page; the built-in assistant is called in its language. */
  nameOf(model: { name: string; builtin: boolean } | undefined): string {
    return model?.builtin ? language.words.builtinName : (model?.name ?? '');
  }

  /** Uses a model that was found: here, and wherever nothing else is said. */
  async adopt(model: ModelRef): Promise<void> {
    this.models.pick(model);
    try {
      await this.models.change(model.id, { isDefault: true });
    } catch (error) {
      toasts.show(language.words.notMadeDefault(inWords(error)));
    }
  }

  // What the panel of models does. What goes wrong there is said there, so each
  // of these fails with a sentence for the person.

  discover(ask: Discover): Promise<Discovered> {
    return spoken(api.discover(ask));
  }

  /** Connects a model and tries it. Who makes it the default means to talk to it. */
  async addModel(model: NewModel): Promise<ModelId> {
    const id = await spoken(this.models.add(model));
    if (model.isDefault) this.models.pick({ id, name: model.name ?? model.model });
    this.testModel(id);
    return id;
  }

  async changeModel(id: ModelId, change: ModelChange): Promise<void> {
    if (Object.keys(change).length === 0) return;
    await spoken(this.models.change(id, change));
    if (needsTest(change)) this.testModel(id);
  }

  removeModel(id: ModelId): Promise<void> {
    return spoken(this.models.remove(id));
  }

  testModel(id: ModelId): void {
    void this.models.test(id, inWords);
  }

  async rename(chatId: ChatId, title: string): Promise<void> {
    try {
      await this.list.rename(chatId, title);
    } catch (error) {
      toasts.show(language.words.notRenamed(inWords(error)));
    }
  }

  remove(chatId: ChatId, title: string): void {
    this.#keep(chatId);
    this.list.remove(chatId, (error) => toasts.show(language.words.notDeleted(inWords(error))));
    const wasOpen = router.chatId === chatId;
    if (wasOpen) router.go({ name: 'new' });
    const undo = () => {
      this.#keep(chatId);
      if (wasOpen) router.go({ name: 'chat', chatId });
    };
    const { deleted, undo: label } = language.words;
    this.#undoToasts.set(chatId, toasts.show(deleted(title), { label, run: undo }, UNDO_MS));
  }

  /** Takes a deletion back, if there was one. */
  #keep(chatId: ChatId): void {
    this.list.restore(chatId);
    const toast = this.#undoToasts.get(chatId);
    if (toast !== undefined) toasts.dismiss(toast);
    this.#undoToasts.delete(chatId);
  }

  /** Only the open chat is listened to; what runs in others ends unheard. */
  #lookAfterOthers(): void {
    const others = this.list.chats.some((chat) => chat.running && chat.id !== router.chatId);
    if (others && document.visibilityState === 'visible') {
      this.list.refresh().catch(() => {
        // The socket fails too, and the page says so.
      });
    }
  }

  async #createChat(): Promise<ChatId> {
    const { id } = await this.list.create();
    this.draft.moveTo(undefined, id);
    this.toolbox.moveTo(undefined, id);
    this.models.moveTo(undefined, id);
    // A reader who went elsewhere meanwhile stays there.
    if (router.chatId === undefined) {
      this.conversation.begin(id);
      router.replace({ name: 'chat', chatId: id });
    }
    return id;
  }
}

export const app = new App();

async function spoken<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    throw new Error(inWords(error));
  }
}

function inWords(error: unknown): string {
  if (error instanceof ApiError && !error.unreachable) return error.message;
  return language.words.serverSilent;
}
