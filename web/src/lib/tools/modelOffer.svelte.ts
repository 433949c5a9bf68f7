// What the chosen model gets with the next message, as the server works it out: which tools, and
// how many tokens. Nobody else asks for it.
import { modelContext } from '$lib/api/modelContext';
import type { ChatId, ContextQuery, ContextView, ToolView } from '$lib/api/types';
import { Refresher } from '$lib/refresher';
import { ResponseOrder } from '$lib/responseOrder';
import { countElsewhere, settledTools } from './otherComputers';

interface OfferAnswer {
  /** What was asked. */
  key: string;
  chatId: ChatId | undefined;
  /** How many were on then, without those of other computers. */
  reachable: number;
  context: ContextView;
}

export class ModelOffer {
  #answer = $state.raw<OfferAnswer>();
  #question = $state.raw<ContextQuery>({});
  #on: readonly ToolView[] = [];
  #order = new ResponseOrder();
  #refresher = new Refresher(() => this.#read());

  /** Called whenever what a model gets may be something else. The tools `on` are switched on. */
  ask(question: ContextQuery, on: readonly ToolView[]): void {
    this.#question = question;
    this.#on = on;
    this.#refresher.soon();
  }

  /** Absent while it is not known for what is asked now. */
  get context(): ContextView | undefined {
    const answer = this.#answer;
    return answer?.key === JSON.stringify(this.#question) ? answer.context : undefined;
  }

  /** The last that was worked out for the same chat: about right while what is asked now is not
      known. */
  get latest(): ContextView | undefined {
    const answer = this.#answer;
    return answer?.chatId === this.#question.chatId ? answer?.context : undefined;
  }

  /** What it depends on was changed on the server. */
  refreshSoon(): void {
    this.#refresher.soon();
  }

  /** How many of those that are on it gets, some of them only when they are needed. Until the
      server has answered, all that are not on other computers are thought to. */
  count(on: readonly ToolView[]): number {
    const answer = this.#answer;
    const { context } = this;
    const reachable = countReachable(on, context);
    if (!context || !answer) return reachable;
    if (context.tools.length === 0) return 0;
    // The others it has to search for.
    if (context.deferred > 0) return Math.min(reachable, context.tools.length);
    // Something may have been switched since: where nothing was left out, nothing will be.
    const leftOut = context.leftOut.length;
    return leftOut === 0 ? reachable : Math.min(reachable, answer.reachable - leftOut);
  }

  async #read(): Promise<void> {
    const isNewest = this.#order.send();
    const question = this.#question;
    const on = this.#on;
    try {
      const context = await modelContext.of(question);
      const { chatId } = question;
      const reachable = countReachable(on, context);
      if (isNewest()) this.#answer = { key: JSON.stringify(question), chatId, reachable, context };
    } catch (error) {
      // Nothing depends on it: where it cannot be had it is not shown.
      if (isNewest()) this.#answer = undefined;
      throw error;
    }
  }
}

function countReachable(tools: readonly ToolView[], context: ContextView | undefined): number {
  return tools.length - countElsewhere(tools, settledTools(context));
}
