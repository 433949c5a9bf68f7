// Everything the page holds, joined: the socket feeds the open chat and tells what else has
// changed, and what goes wrong is said where it happened.
import { accountChanges, settingChanges } from './account/events';
import { session } from './account/session.svelte';
import { api, ApiError } from './api/client';
import { instructions } from './api/instructions';
import { Socket, type Connection } from './api/socket';
import type {
  AnswerForm,
  AppInfo,
  CallId,
  ChatId,
  ChatSummary,
  ContextQuery,
  ExpertId,
  AttachedFile,
  FolderView,
  ModelDiscoveryRequest,
  ModelDiscoveryResponse,
  ModelChange,
  ModelId,
  ModelRef,
  NewModel,
  Policy,
  SourceId,
  ServerFrame,
  StorageState,
  StartTurn,
  ToolId,
  TurnId,
  UserTopic,
  Verdict,
} from './api/types';
import { attention } from './attention/attention.svelte';
import type { Turn } from './chat/chat';
import { Conversation } from './chat/conversation.svelte';
import { ContextSize, estimateContext } from './chat/context.svelte';
import { fileLimits } from './chat/attachments.svelte';
import { Draft, type DraftContent } from './chat/draft.svelte';
import { MessageQueue, type QueuedMessage } from './chat/queue.svelte';
import { NewChat, noSettings, type NewChatDecisions } from './chat/newChat.svelte';
import { ChatManager } from './chat/chatManager.svelte';
import { TurnOutbox, type Delivery } from './chat/turnOutbox';
import { Experts, GENERAL_ID } from './experts/experts.svelte';
import { Folders } from './folders/folders.svelte';
import { matchesAny } from './experts/toolPattern';
import { truncateTitle } from './format/truncate';
import { errorText } from './i18n/errorText';
import { language } from './i18n/language.svelte';
import { Listeners } from './listeners';
import { storedDevice } from './local/device';
import type { Local } from './local/local.svelte';
import { chooseModel } from './models/choice';
import { needsTest } from './models/form';
import { Models } from './models/models.svelte';
import { isBlind } from './models/vision';
import { Refresher } from './refresher';
import { ResponseOrder } from './responseOrder';
import { router, type Route } from './router.svelte';
import { skillChanges } from './skills/events';
import { emitSourcesChange } from './sources/events';
import { ModelOffer } from './tools/modelOffer.svelte';
import { Toolbox } from './tools/toolbox.svelte';
import { toasts } from './ui/toasts.svelte';

/** A message on its way. */
interface OutgoingTurn extends Pick<
  StartTurn,
  'text' | 'replaces' | 'modelId' | 'fileIds' | 'toolIds'
> {
  turnId: TurnId;
}

interface Started {
  chatId: ChatId | undefined;
  sent: boolean;
  /** The server may have got it nevertheless. */
  uncertain?: boolean;
  /** A chat that was made for a message which the server then refused. */
  unused?: ChatId;
}

class App {
  info = $state.raw<AppInfo>();
  connection = $state<Connection>('connecting');

  readonly chatManager = new ChatManager((chatId) => {
    this.draft.forget(chatId);
    this.models.forget(chatId);
    this.#outbox.forget(chatId);
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
    deliver: (chatId, message) => this.#deliverQueued(chatId, message),
  });
  readonly newChat = new NewChat();
  readonly contextSize = new ContextSize();
  /** For parts of the page that follow chats of their own. */
  readonly frames = new Listeners<[ServerFrame]>();
  readonly conversation: Conversation;
  /** Whether what is said can be stored. */
  storage = $state<StorageState>('ok');
  /** The tool servers on this machine. Nobody waits for this part of the page. */
  local = $state.raw<Local>();
  /** The open chat, where it is too old to be in a list, or temporary. */
  #unlisted = $state.raw<ChatSummary>();
  /** What was decided about the chat that was made last, should it have to be made again. */
  #decided?: NewChatDecisions & { chatId: ChatId };
  /** The open chat, once something is known of it. */
  openChat = $derived.by(() => {
    const { chatId } = router;
    if (!chatId) return undefined;
    const found = this.chatManager.find(chatId) ?? this.#unlisted;
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
  /** How many tools the next message may use. */
  #toolsOn = $derived.by(() => {
    const { on } = this.toolbox;
    const patterns = this.toolPatterns;
    return patterns ? on.filter(({ toolId }) => matchesAny(patterns, toolId)).length : on.length;
  });
  readonly modelOffer = new ModelOffer();
  /** How many tools the model gets with it. */
  toolCount = $derived.by(() => {
    const { model } = this.choice;
    const takesNone = this.models.all.some(
      ({ id, toolMode }) => id === model?.id && toolMode === 'none',
    );
    return takesNone ? 0 : this.modelOffer.count(this.#toolsOn);
  });
  /** Which model answers the next message of the open chat. */
  choice = $derived.by(() =>
    chooseModel({
      models: this.models.loaded ? this.models.all : undefined,
      endpoints: this.models.endpoints,
      info: this.info?.model,
      picked: this.models.picked,
      ofExpert: this.expert?.model,
      last: this.conversation.turns.at(-1)?.model,
    }),
  );
  /** The model that should answer in the open chat and is gone, once that is sure. */
  missing = $derived.by(() => {
    const { missing } = this.choice;
    if (!missing || this.models.wasRemoved(missing.id)) return undefined;
    return this.#surelyMissing.has(missing.id) ? missing : undefined;
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
    estimateContext(this.contextSize.view, this.draft.text, this.draft.attachments.files),
  );
  /** Why the list of models could not be had, in words. */
  modelsProblem = $derived(this.models.failure ? errorText(this.models.failure) : '');
  readonly #socket: Socket;
  readonly #outbox = new TurnOutbox();
  readonly #chats = new Refresher(() => this.#refreshList());
  readonly #session = new Refresher(() => session.refresh());
  readonly #info = new Refresher(() => this.#refreshInfo());
  readonly #infoOrder = new ResponseOrder();
  /** Chats known to wait for an answer; absent before the first look. */
  #asking?: Set<ChatId>;
  #lookingFor?: ModelId;
  /** Models that were still gone at the second look. */
  #surelyMissing = $state.raw<ReadonlySet<ModelId>>(new Set());

  constructor() {
    this.#socket = new Socket(`${location.origin.replace(/^http/, 'ws')}/api/ws`, {
      frame: (frame) => this.take(frame),
      connection: (connection) => {
        this.connection = connection;
        if (connection !== 'open') return;
        // It is told at once if it is not.
        this.storage = 'ok';
        this.local?.connected();
      },
      refused: () => void session.look(),
    });
    this.conversation = new Conversation(this.#socket);
  }

  /** Returns a function that unsubscribes. */
  start(): () => void {
    const stopSocket = this.#socket.start();
    const stopLocal = this.#startLocal();
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

  /** Finds out what the model gets. Called in an effect: whatever it reads may change that. */
  askForOffer(): void {
    const { model, undecided } = this.choice;
    if (!this.toolbox.loaded || !model || undecided) return;
    // How it is offered tools may have been changed, and which there are.
    void this.models.all;
    void this.toolbox.tools;
    const { chatId } = router;
    const question = {
      chatId,
      modelId: model.id,
      deviceId: storedDevice()?.id,
      ...(!chatId && { expertId: router.expertId }),
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
    this.#takeUserEvent(frame);
    if (frame.type === 'storage') this.storage = frame.state;
    if (frame.type === 'error' && frame.chatId && frame.error.code === 'not_found') {
      this.chatManager.drop(frame.chatId);
    }
    if (frame.type === 'event' && frame.body.type === 'turnStarted') {
      this.#outbox.settle(frame.chatId, frame.body.turnId);
      this.draft.arrived(frame.chatId, frame.body.turnId);
    }
    this.queue.take(frame);
  }

  /** What the size of the context depends on, without what is being written. */
  get contextAsk(): ContextQuery {
    const { chatId, folderId } = router;
    return {
      ...(chatId && { chatId }),
      ...(!chatId && this.expertId && { expertId: this.expertId }),
      ...(!chatId && folderId && { folderId }),
      ...(this.choice.model && { modelId: this.choice.model.id }),
    };
  }

  /** Reads everything again that is shown. */
  async refresh(): Promise<void> {
    // With the accounts, the sources.
    for (const topic of ['accounts', 'settings'] as const) this.#refreshTopic(topic);
    await Promise.all([
      this.#chats.now(),
      this.toolbox.refresh(),
      this.models.refresh(),
      this.experts.refresh(),
      this.folders.refresh(),
      this.#info.now(),
    ]);
  }

  /** Sends the draft, or a text that was never in the field. While a turn runs it is queued. */
  async send(text?: string): Promise<void> {
    const { conversation, draft } = this;
    if (conversation.sending) return;
    // A suggestion that was put back into the field, chosen again, is what stands there.
    const isDraft = text === undefined || text.trim() === draft.text.trim();
    if (isDraft && !this.canSendDraft) return;
    const content = isDraft ? draft.peek() : { text: text.trim() };
    // The page asks who is to answer before it comes here.
    if (this.choice.undecided) return;
    if (conversation.running) return this.#enqueue(content, isDraft);
    const turn = { ...turnOf(content), modelId: this.choice.send };
    const turnId = (isDraft && draft.turnId) || this.#outbox.turnIdFor(router.chatId, turn);
    if (isDraft) draft.take();
    const started = await this.#start({ ...turn, turnId }, content);
    const { chatId, sent, uncertain, unused } = started;
    if (!sent) {
      // A suggestion that failed is kept like a text that was written.
      draft.putBack(content, chatId, uncertain ? turnId : undefined);
      if (unused) await this.#unmakeChat(unused);
    } else if (chatId) draft.arrived(chatId, turnId);
  }

  /** Says something else in the place of a turn, or lets the same be answered anew. Whether it was sent. */
  async replace(turn: Turn, content?: DraftContent): Promise<boolean> {
    const { running, sending } = this.conversation;
    if (running || sending || this.choice.undecided) return false;
    const said = content && { text: content.text, fileIds: content.files?.map(({ id }) => id) };
    const next = { ...said, replaces: turn.id, modelId: this.choice.send };
    const turnId = this.#outbox.turnIdFor(router.chatId, next);
    const { sent } = await this.#start({ ...next, turnId }, content ?? turn);
    return sent;
  }

  /** The open chat stays. */
  async keepChat(): Promise<void> {
    const { chatId } = router;
    if (chatId && (await this.chatManager.keep(chatId))) this.#unlisted = undefined;
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

  /** Decides about a call that waits. */
  async answer(callId: CallId, verdict: Verdict): Promise<void> {
    try {
      await api.answerCall(callId, verdict);
      if (verdict !== 'once') await this.toolbox.refresh();
    } catch (error) {
      // It was answered elsewhere, and the event of that is on its way.
      if (error instanceof ApiError && error.status === 409) return;
      toasts.show(language.messages.notAnswered(errorText(error)));
    }
  }

  /** Answers what a tool asks while it runs. Fails with what the server said: the form shows it. */
  async answerForm(callId: CallId, answer: AnswerForm): Promise<void> {
    try {
      await api.answerForm(callId, answer);
    } catch (error) {
      // It was answered elsewhere or is over, and the event of that is on its way.
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }

  /** With a source: all that it has and will have. */
  async switchTools(ids: readonly ToolId[], on: boolean, source?: SourceId): Promise<void> {
    await this.#setTools(this.toolbox.switch(ids, on, source));
  }

  async switchEverywhere(): Promise<void> {
    await this.#setTools(this.toolbox.switchEverywhere());
  }

  async setPolicy(
    ids: readonly ToolId[],
    policy: Policy | null,
    layer: 'user' | 'organisation',
    source?: SourceId,
  ): Promise<void> {
    await this.#setTools(this.toolbox.setPolicy(ids, policy, layer, source));
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

  /** An endpoint that is slow to answer is missing at first, and there at the second look. */
  async lookAgainFor({ id }: ModelRef): Promise<void> {
    if (this.#lookingFor === id || this.#surelyMissing.has(id)) return;
    this.#lookingFor = id;
    await this.models.refresh();
    this.#lookingFor = undefined;
    if (this.choice.missing?.id === id) this.#surelyMissing = new Set(this.#surelyMissing).add(id);
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

  // What the panel of models does. Each of these fails with what the server said: the panel
  // shows it, at the field that it is about.

  discover(ask: ModelDiscoveryRequest): Promise<ModelDiscoveryResponse> {
    return api.discover(ask);
  }

  /** Connects a model and tries it. Who makes it the default means to talk to it. */
  async addModel(model: NewModel): Promise<ModelId> {
    const id = await this.models.add(model);
    if (model.isDefault) this.models.pick({ id, name: model.name ?? model.model });
    this.testModel(id);
    return id;
  }

  /** Connects several at once. Trying each would cost time and tokens: only a new default is tried. */
  async addModels(models: readonly NewModel[], done: (count: number) => void): Promise<void> {
    const ids = await this.models.addAll(models, done);
    const index = models.findIndex(({ isDefault }) => isDefault);
    const [id, model] = [ids[index], models[index]];
    if (!id || !model) return;
    this.models.pick({ id, name: model.name ?? model.model });
    this.testModel(id);
  }

  async changeModel(id: ModelId, change: ModelChange): Promise<void> {
    if (Object.keys(change).length === 0) return;
    await this.models.change(id, change);
    if (needsTest(change)) this.testModel(id);
  }

  removeModel(id: ModelId): Promise<void> {
    return this.models.remove(id);
  }

  testModel(id: ModelId): void {
    void this.models.test(id);
  }

  #startLocal(): () => void {
    let stop = () => {};
    let stopped = false;
    const begin = async () => {
      const [{ Local }, { showComputerQuestion, showServerNews }] = await Promise.all([
        import('./local/local.svelte'),
        import('./local/newsToast'),
      ]);
      if (stopped) return;
      this.local = new Local(
        (frame) => this.#socket.send(frame),
        showServerNews,
        showComputerQuestion,
      );
      stop = this.local.start();
    };
    // It is tried again when the page is loaded again.
    begin().catch(() => {});
    return () => {
      stopped = true;
      stop();
      this.local = undefined;
    };
  }

  /** What changes for this person, here or on another device. */
  #takeUserEvent(frame: ServerFrame): void {
    switch (frame.type) {
      case 'resync':
        void this.refresh();
        break;
      case 'chat:changed':
        this.chatManager.put(frame.chat);
        if (this.#unlisted?.id === frame.chat.id) this.#unlisted = frame.chat;
        this.#noteAsking(frame.chat);
        attention.take(frame.chat);
        break;
      case 'chat:gone':
        this.chatManager.drop(frame.chatId);
        break;
      case 'source:state':
        emitSourcesChange(frame);
        break;
      case 'changed':
        this.#refreshTopic(frame.topic);
        break;
    }
  }

  #refreshTopic(topic: UserTopic): void {
    switch (topic) {
      case 'tools':
        return this.toolbox.refreshSoon();
      case 'sources':
        return emitSourcesChange();
      case 'models':
        this.#info.soon();
        return this.models.refreshSoon();
      case 'accounts':
        // Their role may be another one now, and so what they may change.
        this.#session.soon();
        accountChanges.emit();
        return emitSourcesChange();
      case 'settings':
        // Which of them are hidden is a preference.
        this.experts.refreshSoon();
        this.folders.refreshSoon();
        return settingChanges.emit();
      case 'experts':
        this.toolbox.refreshSoon();
        return this.experts.refreshSoon();
      case 'skills':
        return skillChanges.emit();
    }
  }

  /** A temporary chat is deleted when its reader goes elsewhere. */
  #leave(next: ChatId | undefined): void {
    const left = this.#unlisted;
    if (!left || left.id === next) return;
    this.#unlisted = undefined;
    if (left.temporary) void this.chatManager.discard(left.id);
  }

  #enqueue(content: DraftContent, isDraft: boolean): void {
    const { chatId } = router;
    if (!chatId) return;
    if (isDraft) {
      this.draft.take();
      this.draft.forget(chatId);
    }
    this.queue.add(chatId, content, this.choice.send);
  }

  async #deliverQueued(chatId: ChatId, message: QueuedMessage): Promise<Delivery> {
    const { turnId, text, files, modelId } = message;
    const isOpen = chatId === router.chatId;
    const takeBack = isOpen ? this.conversation.announce({ text, files, turnId }) : undefined;
    const turn = { ...turnOf(message), turnId, modelId, language: language.code };
    const delivery = await this.#outbox.send(chatId, turn);
    if (!delivery.sent) takeBack?.();
    return delivery;
  }

  async #findUnlisted(chatId: ChatId | undefined): Promise<void> {
    if (!chatId || !this.list.loaded || this.chatManager.find(chatId)) return;
    // What is not there is said where it is shown.
    const chat = await api.chat(chatId).catch(() => undefined);
    if (chat && router.chatId === chatId) this.#unlisted = chat;
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
    // Those that asked before the page was there have their mark in the list.
    this.#asking ??= new Set(this.list.chats.flatMap(({ id, asking }) => (asking ? [id] : [])));
    for (const chat of this.list.chats) {
      this.#noteAsking(chat);
      attention.take(chat);
    }
  }

  /** Tells of a chat that begins to wait for an answer while another one is open. */
  #noteAsking({ id, title, asking }: ChatSummary): void {
    if (!asking) this.#asking?.delete(id);
    if (!asking || !this.#asking || this.#asking.has(id)) return;
    this.#asking.add(id);
    if (id === router.chatId) return;
    const { asks, untitled, open: label } = language.messages;
    const run = () => router.go({ name: 'chat', chatId: id });
    toasts.show(asks(truncateTitle(title || untitled)), { label, run });
  }

  async #setTools(change: Promise<void>): Promise<void> {
    try {
      await change;
    } catch (error) {
      toasts.show(language.messages.notChanged(errorText(error)));
    }
  }

  /** Starts a turn. The content is shown meanwhile, also where the same is answered anew. */
  async #start(
    turn: OutgoingTurn,
    { text, files }: { text: string; files?: readonly AttachedFile[] },
  ): Promise<Started> {
    // Whoever sends it nevertheless has accepted who answers.
    if (this.missing) this.models.clearPick();
    const { turnId } = turn;
    const takeBack = this.conversation.announce({ text, files, turnId, replaces: turn.replaces });
    const made = router.chatId === undefined;
    let chatId: ChatId;
    try {
      chatId = router.chatId ?? (await this.#createChat());
    } catch (error) {
      takeBack();
      toasts.show(language.messages.notSent(errorText(error)));
      return { chatId: undefined, sent: false };
    }
    this.draft.sending(chatId, turnId);
    const delivery = await this.#outbox.send(chatId, {
      ...turn,
      language: language.code,
      deviceId: storedDevice()?.id,
    });
    if (delivery.sent) return { chatId, sent: true };
    takeBack();
    toasts.show(language.messages.notSent(errorText(delivery.error)));
    const { uncertain } = delivery;
    return { chatId, sent: false, uncertain, unused: made && !uncertain ? chatId : undefined };
  }

  async #createChat(): Promise<ChatId> {
    const { expertId } = this;
    const { folderId } = router;
    const { temporary, settings } = this.newChat;
    const chat = await this.list.create({
      ...(expertId && { expertId }),
      ...(folderId && { folderId }),
      ...(temporary && { temporary }),
    });
    const { id } = chat;
    try {
      if (settings !== noSettings) await instructions.setOfChat(id, settings);
    } catch (error) {
      void this.list.remove(id).catch(() => {});
      throw error;
    }
    this.#decided = { chatId: id, temporary, settings };
    if (router.chatId === undefined) this.newChat.take();
    // One that its reader has left meanwhile is deleted by the server.
    if (chat.temporary && router.chatId === undefined) this.#unlisted = chat;
    this.draft.moveTo(undefined, id);
    this.models.moveTo(undefined, id);
    // A reader who went elsewhere meanwhile stays there.
    if (router.chatId === undefined) {
      this.conversation.begin(id);
      router.replace({ name: 'chat', chatId: id });
    }
    return id;
  }

  /** Nothing was said in it: as if it had never been made. */
  async #unmakeChat(id: ChatId): Promise<void> {
    this.draft.moveBack(id);
    this.models.moveTo(id, undefined);
    if (this.#decided?.chatId === id) this.newChat.set(this.#decided);
    if (this.#unlisted?.id === id) this.#unlisted = undefined;
    if (router.chatId === id) {
      router.replace({ name: 'new' });
      this.open(undefined);
    }
    await this.list.remove(id).catch(() => {
      // Then it stays in the list, where it can be deleted.
    });
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

/** What of a message goes to the server. */
function turnOf({ text, files = [], tool }: DraftContent): Omit<OutgoingTurn, 'turnId'> {
  return {
    text,
    ...(files.length > 0 && { fileIds: files.map(({ id }) => id) }),
    ...(tool && { toolIds: [tool.toolId] }),
  };
}

export const app = new App();
