// Sends what a person says: the draft, a suggestion, another version of a turn, what is in the
// queue. A chat that is new is made with its first message.
import { instructions } from '$lib/api/instructions';
import type { AttachedFile, ChatId, StartTurn, TurnId } from '$lib/api/types';
import type { App } from '$lib/app.svelte';
import { errorText } from '$lib/i18n/errorText';
import { language } from '$lib/i18n/language.svelte';
import { storedDevice } from '$lib/local/device';
import { router } from '$lib/router.svelte';
import { toasts } from '$lib/ui/toasts.svelte';
import type { Turn } from './chat';
import type { DraftContent } from './draft.svelte';
import { noSettings, type NewChatDecisions } from './newChat.svelte';
import type { QueuedMessage } from './queue.svelte';
import { TurnOutbox, type Delivery } from './turnOutbox';

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

export class TurnSender {
  #app: App;
  #outbox = new TurnOutbox();
  /** What was decided about the chat that was made last, should it have to be made again. */
  #decided?: NewChatDecisions & { chatId: ChatId };

  constructor(app: App) {
    this.#app = app;
  }

  /** The feed shows the turn: it has arrived. */
  settle(chatId: ChatId, turnId: TurnId): void {
    this.#outbox.settle(chatId, turnId);
  }

  forget(chatId: ChatId): void {
    this.#outbox.forget(chatId);
  }

  /** Sends the draft, or a text that was never in the field. While a turn runs it is queued. */
  async send(text?: string): Promise<void> {
    const { conversation, draft, choice } = this.#app;
    if (conversation.sending) return;
    // A suggestion that was put back into the field, chosen again, is what stands there.
    const isDraft = text === undefined || text.trim() === draft.text.trim();
    if (isDraft && !this.#app.canSendDraft) return;
    const content = isDraft ? draft.peek() : { text: text.trim() };
    // The page asks who is to answer before it comes here.
    if (choice.undecided) return;
    if (conversation.running) return this.#enqueue(content, isDraft);
    const turn = { ...turnOf(content), modelId: choice.send };
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

  /** Says something else in the place of a turn, or lets the same be answered anew. Whether it was
      sent. */
  async replace(turn: Turn, content?: DraftContent): Promise<boolean> {
    const { conversation, choice } = this.#app;
    if (conversation.running || conversation.sending || choice.undecided) return false;
    const said = content && { text: content.text, fileIds: content.files?.map(({ id }) => id) };
    const next = { ...said, replaces: turn.id, modelId: choice.send };
    const turnId = this.#outbox.turnIdFor(router.chatId, next);
    const { sent } = await this.#start({ ...next, turnId }, content ?? turn);
    return sent;
  }

  #enqueue(content: DraftContent, isDraft: boolean): void {
    const { chatId } = router;
    if (!chatId) return;
    if (isDraft) {
      this.#app.draft.take();
      this.#app.draft.forget(chatId);
    }
    this.#app.queue.add(chatId, content, this.#app.choice.send);
  }

  /** Sends a message of the queue. */
  async deliver(chatId: ChatId, message: QueuedMessage): Promise<Delivery> {
    const { turnId, text, files, modelId } = message;
    const isOpen = chatId === router.chatId;
    const takeBack = isOpen ? this.#app.conversation.announce({ text, files, turnId }) : undefined;
    const delivery = await this.#outbox.send(chatId, {
      ...turnOf(message),
      ...{ turnId, modelId, language: language.code, deviceId: storedDevice()?.id },
    });
    if (!delivery.sent) takeBack?.();
    return delivery;
  }

  /** Starts a turn. The content is shown meanwhile, also where the same is answered anew. */
  async #start(
    turn: OutgoingTurn,
    { text, files }: { text: string; files?: readonly AttachedFile[] },
  ): Promise<Started> {
    const { conversation, draft, missing, models } = this.#app;
    // Whoever sends it nevertheless has accepted who answers.
    if (missing) models.clearPick();
    const { turnId } = turn;
    const takeBack = conversation.announce({ text, files, turnId, replaces: turn.replaces });
    const made = router.chatId === undefined;
    let chatId: ChatId;
    try {
      chatId = router.chatId ?? (await this.#createChat());
    } catch (error) {
      takeBack();
      toasts.show(language.messages.notSent(errorText(error)));
      return { chatId: undefined, sent: false };
    }
    draft.sending(chatId, turnId);
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
    const { conversation, draft, expertId, list, models, newChat } = this.#app;
    const { folderId } = router;
    const { temporary, settings } = newChat;
    const chat = await list.create({
      ...(expertId && { expertId }),
      ...(folderId && { folderId }),
      ...(temporary && { temporary }),
    });
    const { id } = chat;
    try {
      if (settings !== noSettings) await instructions.setOfChat(id, settings);
    } catch (error) {
      void list.remove(id).catch(() => {});
      throw error;
    }
    this.#decided = { chatId: id, temporary, settings };
    if (router.chatId === undefined) newChat.take();
    // One that its reader has left meanwhile is deleted by the server.
    if (chat.temporary && router.chatId === undefined) this.#app.unlisted = chat;
    draft.moveTo(undefined, id);
    models.moveTo(undefined, id);
    // A reader who went elsewhere meanwhile stays there.
    if (router.chatId === undefined) {
      conversation.begin(id);
      router.replace({ name: 'chat', chatId: id });
    }
    return id;
  }

  /** Nothing was said in it: as if it had never been made. */
  async #unmakeChat(id: ChatId): Promise<void> {
    const app = this.#app;
    app.draft.moveBack(id);
    app.models.moveTo(id, undefined);
    if (this.#decided?.chatId === id) app.newChat.set(this.#decided);
    if (app.unlisted?.id === id) app.unlisted = undefined;
    if (router.chatId === id) {
      router.replace({ name: 'new' });
      app.open(undefined);
    }
    await app.list.remove(id).catch(() => {
      // Then it stays in the list, where it can be deleted.
    });
  }
}

/** What of a message goes to the server. */
function turnOf({ text, files = [], tool }: DraftContent): Omit<OutgoingTurn, 'turnId'> {
  return {
    text,
    ...(files.length > 0 && { fileIds: files.map(({ id }) => id) }),
    ...(tool && { toolIds: [tool.toolId] }),
  };
}
