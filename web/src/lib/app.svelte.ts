// Everything the page holds, joined: the socket feeds the open chat and tells what else has
// changed, and what goes wrong is said where it happened.
import { session } from './account/session.svelte';
import { api } from './api/client';
import { Socket, type Connection } from './api/socket';
import type {
  AppInfo,
  ChatId,
  ChatSummary,
  ExpertId,
  FolderView,
  ModelRef,
  ServerFrame,
  StorageState,
  ClusterState,
  TurnId,
} from './api/types';
import { attention } from './attention/attention.svelte';
import type { Turn } from './chat/chat';
import { Conversation } from './chat/conversation.svelte';
import { estimateContext } from './chat/contextEstimate';
import { fileLimits } from './chat/attachments.svelte';
import { Draft, type DraftContent } from './chat/draft.svelte';
import { MessageQueue } from './chat/queue.svelte';
import { NewChat } from './chat/newChat.svelte';
import { ChatManager } from './chat/chatManager.svelte';
import { TurnSender } from './chat/turnSender';
import { Experts, GENERAL_ID } from './experts/experts.svelte';
import { Folders } from './folders/folders.svelte';
import { matchesAny } from './experts/toolPattern';
import { errorText } from './i18n/errorText';
import { language } from './i18n/language.svelte';
import { Listeners } from './listeners';
import { storedDevice } from './local/device';
import type { Local } from './local/local.svelte';
import { LocalStarter } from './local/starter.svelte';
import { chooseModel } from './models/choice';
import { MissingModels } from './models/missingModels.svelte';
import { Models } from './models/models.svelte';
import { isBlind } from './models/vision';
import { Refresher } from './refresher';
import { ResponseOrder } from './responseOrder';
import { router, type Route } from './router.svelte';
import { ModelOffer } from './tools/modelOffer.svelte';
import { Toolbox } from './tools/toolbox.svelte';
import { toasts } from './ui/toasts.svelte';
import { UserFeed } from './userFeed';

export class App {
  info = $state.raw<AppInfo>();
  connection = $state<Connection>('connecting');

  readonly chatManager = new ChatManager((chatId) => {
    this.draft.forget(chatId);
    this.models.forget(chatId);
    this.#sender.forget(chatId);
    this.queue.forget(chatId);
  });
  readonly list = this.chatManager.list;
  readonly draft = new Draft(router.chatId);
  readonly toolbox = new Toolbox(router.chatId);
  readonly models = new Models(router.chatId);
  readonly experts = new Experts();
  readonly folders = new Folders();
  /** What waits for the turn that runs to end. */
  readonly queue = new MessageQueue({
    isBusy: (chatId) => {
      const { sending, latestRunning } = this.conversation;
      return chatId === router.chatId && (sending ?? latestRunning) !== undefined;
    },
    deliver: (chatId, message) => this.#sender.deliver(chatId, message),
    refused: (chatId, why) => this.#tellOf(chatId, why),
  });
  readonly newChat = new NewChat();
  /** For parts of the page that follow chats of their own. */
  readonly frames = new Listeners<[ServerFrame]>();
  readonly conversation: Conversation;
  /** Whether what is said can be stored. */
  storage = $state<StorageState>('ok');
  /** Whether what other servers do arrives at once. */
  cluster = $state<ClusterState>('ok');
  /** The open chat, where it is too old to be in a list, or temporary. */
  unlisted = $state.raw<ChatSummary>();
  /** The open chat, once something is known of it. */
  openChat = $derived.by(() => {
    const { chatId } = router;
    if (!chatId) return undefined;
    const found = this.chatManager.find(chatId) ?? this.unlisted;
    return found?.id === chatId ? found : undefined;
  });
  /** The folder that the open chat is in, or will be. */
  folder = $derived(this.folders.find(router.chatId ? this.openChat?.folderId : router.folderId));
  /** Whom the open chat is with; absent: the general expert. */
  expertId = $derived.by(() => {
    if (!router.chatId) return router.expertId ?? this.folder?.expertId;
    return this.openChat?.expertId;
  });
  /** Absent where it is gone, or not known yet. */
  expert = $derived(this.experts.find(this.expertId));
  /** The tools of the open chat's expert, while there is no chat: the server has not applied them
      to the list of tools then. */
  toolPatterns = $derived(router.chatId ? undefined : this.expert?.tools);
  /** The tools that the next message may use. */
  #toolsOn = $derived.by(() => {
    const { on } = this.toolbox;
    const patterns = this.toolPatterns;
    return patterns ? on.filter(({ toolId }) => matchesAny(patterns, toolId)) : on;
  });
  #runningId = $derived.by(() => this.conversation.running?.id);
  #isChatShown = $derived.by(() => this.conversation.chat !== undefined);
  readonly modelOffer = new ModelOffer();
  /** How many tools the model gets with it. */
  toolCount = $derived.by(() => {
    const { model } = this.choice;
    const takesNone = this.models.all.some(
      ({ id, toolMode }) => id === model?.id && toolMode === 'none',
    );
    return takesNone ? 0 : this.modelOffer.count(this.#toolsOn);
  });
  /** Who answered last. On its own, since an answer that is being written changes with every
      word. */
  #lastModel = $derived.by(() => this.conversation.turns.at(-1)?.model);
  /** Which model answers the next message of the open chat. */
  choice = $derived.by(() =>
    chooseModel({
      models: this.models.loaded ? this.models.all : undefined,
      endpoints: this.models.endpoints,
      info: this.info?.model,
      picked: this.models.picked,
      ofExpert: this.expert?.model,
      last: this.#lastModel,
    }),
  );
  /** The model that should answer in the open chat and is gone, once that is sure. */
  missing = $derived.by(() => {
    const { missing } = this.choice;
    return missing && this.#missingModels.has(missing.id) ? missing : undefined;
  });
  /** The model that answers next, as the list has it. */
  model = $derived(this.models.all.find(({ id }) => id === this.choice.model?.id));
  /** Whether the model is known to see no pictures, and the draft has one. */
  blindToDraft = $derived(
    isBlind(this.model) && this.draft.attachments.files.some(({ kind }) => kind === 'image'),
  );
  /** Whether what is in the field could be sent, or queued. */
  canSendDraft = $derived.by(() => {
    const { isEmpty, attachments } = this.draft;
    return !isEmpty && !attachments.uploading && !attachments.failed && !this.blindToDraft;
  });
  /** How much the model is given with what is in the field. */
  context = $derived(
    estimateContext(this.modelOffer.latest, this.draft.text, this.draft.attachments.files),
  );
  /** Why the list of models could not be had, in words. */
  modelsProblem = $derived(this.models.failure ? errorText(this.models.failure) : '');
  readonly #socket: Socket;
  readonly #sender = new TurnSender(this);
  readonly #userFeed = new UserFeed(this);
  readonly #localStarter = new LocalStarter((frame) => this.#socket.send(frame));
  readonly #missingModels = new MissingModels(this.models);
  readonly #chats = new Refresher(() => this.#refreshList());
  readonly #info = new Refresher(() => this.#refreshInfo());
  readonly #infoOrder = new ResponseOrder();

  constructor() {
    this.#socket = new Socket(`${location.origin.replace(/^http/, 'ws')}/api/ws`, {
      frame: (frame) => this.take(frame),
      connection: (connection) => {
        this.connection = connection;
        if (connection !== 'open') return;
        // It is told at once if it is not.
        this.storage = 'ok';
        this.cluster = 'ok';
        this.local?.connected();
      },
      refused: () => void session.look(),
    });
    this.conversation = new Conversation(this.#socket);
  }

  /** Returns a function that unsubscribes. */
  start(): () => void {
    const stopSocket = this.#socket.start();
    const stopLocal = this.#localStarter.start();
    return () => {
      stopLocal();
      stopSocket();
    };
  }

  /** The page knows now whom it is for, and so what was remembered for them. */
  enter(): void {
    this.draft.reread();
    attention.enter();
    this.folders.reread();
    this.queue.reread();
    this.models.open(router.chatId);
  }

  /** For a part of the page that shows a chat of its own. It is fed with `frames`. */
  newConversation(): Conversation {
    return new Conversation(this.#socket);
  }

  /** Whether a chat is open, or one of two that are compared. */
  isShown(chatId: ChatId): boolean {
    return this.#socket.follows(chatId);
  }

  /** The tool servers on this machine. */
  get local(): Local | undefined {
    return this.#localStarter.local;
  }

  /** Finds out what the model gets. Called in an effect: whatever it reads may change that. */
  askForOffer(): void {
    if (!this.toolbox.loaded || session.ended || this.connection !== 'open') return;
    // How it is offered tools may have been changed, which there are, and what was said.
    void this.models.all;
    void this.toolbox.tools;
    void this.#runningId;
    const { chatId, folderId } = router;
    // To work it out the server reads the whole chat. It is shown first.
    if (chatId && !this.#isChatShown) return;
    const { expertId } = this;
    const question = {
      ...(chatId ? { chatId } : { expertId, folderId }),
      modelId: this.choice.model?.id,
      deviceId: storedDevice()?.id,
    };
    this.modelOffer.ask(question, this.#toolsOn);
  }

  /** Follows the address: opens what it names. */
  open(chatId: ChatId | undefined): void {
    this.#leave(chatId);
    if (chatId) this.newChat.take();
    if (chatId) this.conversation.open(chatId);
    else this.conversation.close();
    this.draft.open(chatId);
    void this.toolbox.open(chatId);
    this.models.open(chatId);
    this.queue.open(chatId);
    void this.#findUnlisted(chatId);
  }

  /** Another expert answers from now on, with its model. */
  async pickExpert(expertId: ExpertId): Promise<void> {
    const { chatId } = router;
    this.models.clearPick();
    if (!chatId) return router.replace(newChat(expertId, this.folder));
    await this.chatManager.setExpert(chatId, expertId);
    await this.#findUnlisted(chatId);
  }

  take(frame: ServerFrame): void {
    this.conversation.take(frame);
    this.frames.emit(frame);
    this.local?.take(frame);
    this.#userFeed.take(frame);
    if (frame.type === 'storage') this.storage = frame.state;
    if (frame.type === 'cluster') this.cluster = frame.state;
    if (frame.type === 'error' && frame.chatId && frame.error.code === 'not_found') {
      this.chatManager.drop(frame.chatId);
    }
    if (frame.type === 'event' && frame.body.type === 'turnStarted') {
      this.#sender.settle(frame.chatId, frame.body.turnId);
      this.draft.arrived(frame.chatId, frame.body.turnId);
    }
    this.queue.take(frame);
  }

  /** Reads everything again that is shown. */
  async refresh(): Promise<void> {
    // With the accounts, the sources.
    for (const topic of ['accounts', 'settings'] as const) this.#userFeed.refreshTopic(topic);
    await Promise.all([
      this.#chats.now(),
      this.toolbox.refresh(),
      this.models.refresh(),
      this.experts.refresh(),
      this.folders.refresh(),
      this.#info.now(),
    ]);
  }

  refreshInfoSoon(): void {
    this.#info.soon();
  }

  /** Sends the draft, or a text that was never in the field. While a turn runs it is queued. */
  send(text?: string): Promise<void> {
    return this.#sender.send(text);
  }

  /** Says something else in the place of a turn, or lets the same be answered anew. Whether it was
      sent. */
  replace(turn: Turn, content?: DraftContent): Promise<boolean> {
    return this.#sender.replace(turn, content);
  }

  /** The open chat stays. */
  async keepChat(): Promise<void> {
    const { chatId } = router;
    if (chatId && (await this.chatManager.keep(chatId))) this.unlisted = undefined;
  }

  /** Shows the branch that this turn is on. Whether it will be. */
  async showBranch(turnId: TurnId): Promise<boolean> {
    const chatId = router.chatId;
    if (!chatId) return false;
    try {
      await api.chooseBranch(chatId, turnId);
      return true;
    } catch (error) {
      toasts.show(language.messages.notShown(errorText(error)));
      return false;
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
      toasts.show(language.messages.notStopped(errorText(error)));
    }
  }

  /** What a model is called on the page; the built-in assistant is called in its language. */
  nameOf(model: { name: string; builtin: boolean } | undefined): string {
    return model?.builtin ? language.messages.builtinName : (model?.name ?? '');
  }

  /** Uses a model that was found: here and, where that is this person's to say, wherever nothing
      else is said. */
  async adopt(model: ModelRef): Promise<void> {
    this.models.pick(model);
    if (!session.isAdmin) return;
    try {
      await this.models.change(model.id, { isDefault: true });
    } catch (error) {
      toasts.show(language.messages.notMadeDefault(errorText(error)));
    }
  }

  /** An endpoint that is slow to answer is missing at first, and there at the second look. */
  lookAgainFor(model: ModelRef): Promise<void> {
    return this.#missingModels.lookAgainFor(model, () => this.choice.missing?.id === model.id);
  }

  /** Something went wrong in a chat that is not open. */
  #tellOf(chatId: ChatId, text: string): void {
    const run = () => router.go({ name: 'chat', chatId });
    toasts.show(text, { label: language.messages.open, run });
  }

  /** A temporary chat is deleted when its reader goes elsewhere. */
  #leave(next: ChatId | undefined): void {
    const left = this.unlisted;
    if (!left || left.id === next) return;
    this.unlisted = undefined;
    if (left.temporary) void this.chatManager.discard(left.id);
  }

  async #findUnlisted(chatId: ChatId | undefined): Promise<void> {
    if (!chatId || !this.list.loaded || this.chatManager.find(chatId)) return;
    // What is not there is said where it is shown.
    const chat = await api.chat(chatId).catch(() => undefined);
    if (chat && router.chatId === chatId) this.unlisted = chat;
  }

  async #refreshInfo(): Promise<void> {
    const isNewest = this.#infoOrder.send();
    const info = await api.info();
    if (!isNewest()) return;
    this.info = info;
    Object.assign(fileLimits, info.files);
  }

  async #refreshList(): Promise<void> {
    await this.chatManager.refresh();
    void this.#findUnlisted(router.chatId);
    this.#userFeed.takeList(this.list.chats);
  }
}

/** The general one answers where none is named, and a folder has none of its own. */
function newChat(expertId: ExpertId, folder?: FolderView): Route {
  const isDefault = expertId === (folder?.expertId ?? GENERAL_ID);
  return {
    name: 'new',
    ...(!isDefault && { expertId }),
    ...(folder && { folderId: folder.id }),
  };
}

export const app = new App();
