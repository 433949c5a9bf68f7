// Sends turns so that each is started once. Where no response came, the same turn is sent under the
// same id: at once, and when the reader repeats it by hand.
import { api, ApiError } from '$lib/api/client';
import type { ChatId, StartTurn, TurnId } from '$lib/api/types';
import { freshUuid } from '$lib/uuid';

/** What a reader repeats when they say the same again. */
type TurnContent = Pick<StartTurn, 'text' | 'replaces' | 'modelId' | 'fileIds' | 'toolIds'>;
type IdentifiedTurn = StartTurn & { turnId: TurnId };

/** `uncertain`: the server may have got it nevertheless. */
export type Delivery = { sent: true } | { sent: false; error: unknown; uncertain: boolean };

export class TurnOutbox {
  /** Turns that were sent and that neither a response nor the feed has confirmed. */
  #unconfirmed = new Set<TurnId>();
  /** The last turn of each chat that was given up for lost and may have arrived. */
  #uncertain = new Map<ChatId, IdentifiedTurn>();

  /** Under which to send this: the id it was sent under before, if it may have arrived then. */
  turnIdFor(chatId: ChatId | undefined, turn: TurnContent): TurnId {
    const before = chatId === undefined ? undefined : this.#uncertain.get(chatId);
    const isSame =
      before?.text === turn.text &&
      before?.replaces === turn.replaces &&
      before?.modelId === turn.modelId &&
      isSameList(before?.fileIds, turn.fileIds) &&
      isSameList(before?.toolIds, turn.toolIds);
    return (isSame && before?.turnId) || freshUuid();
  }

  /** It is known what became of the turn: the feed shows it, or the server has answered. */
  settle(chatId: ChatId, turnId: TurnId): void {
    this.#unconfirmed.delete(turnId);
    if (this.#uncertain.get(chatId)?.turnId === turnId) this.#uncertain.delete(chatId);
  }

  async send(chatId: ChatId, turn: IdentifiedTurn): Promise<Delivery> {
    const { turnId } = turn;
    this.#unconfirmed.add(turnId);
    try {
      await startTwice(chatId, turn);
      this.settle(chatId, turnId);
      return { sent: true };
    } catch (thrown) {
      if (!this.#unconfirmed.delete(turnId)) return { sent: true };
      const error = thrown instanceof UncertainStart ? thrown.cause : thrown;
      // Whatever else went wrong, the message may have arrived.
      const refused = thrown instanceof ApiError && thrown.status >= 400 && thrown.status < 500;
      if (refused) this.settle(chatId, turnId);
      else this.#uncertain.set(chatId, turn);
      return { sent: false, error, uncertain: !refused };
    }
  }

  forget(chatId: ChatId): void {
    this.#uncertain.delete(chatId);
  }
}

function isSameList(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}

/** No response came to the first request: whatever the second one says, it may have arrived. */
class UncertainStart extends Error {}

/** Sends it again where no response came. It has an id, so that twice is once. */
async function startTwice(chatId: ChatId, turn: StartTurn): Promise<void> {
  try {
    await api.startTurn(chatId, turn);
  } catch (error) {
    if (!(error instanceof ApiError && error.unreachable)) throw error;
    try {
      await api.startTurn(chatId, turn);
    } catch (cause) {
      throw new UncertainStart('', { cause });
    }
  }
}
