// A call that a person makes by hand: while it runs, and what came of it.
import type { CallToolAnswer, ToolView } from '$lib/api/types';
import type { Call } from '$lib/chat/chat';

/** Fails with what the server said in place of running it. */
export type ManualToolCall = (input: unknown, signal: AbortSignal) => Promise<CallToolAnswer>;

export class ManualCall {
  /** The latest one; its status says whether it runs. */
  call = $state.raw<Call>();
  /** What the server said in place of running it. */
  failure = $state.raw<unknown>();
  readonly #callTool: ManualToolCall;
  #abort?: AbortController;
  #count = 0;

  constructor(callTool: ManualToolCall) {
    this.#callTool = callTool;
  }

  get running(): boolean {
    return this.call?.status === 'running';
  }

  async run(tool: ToolView, input: unknown): Promise<void> {
    this.cancel();
    const abort = new AbortController();
    this.#abort = abort;
    const call = this.#begin(tool, input);
    this.failure = undefined;
    this.call = call;
    try {
      const answer = await this.#callTool(input, abort.signal);
      if (this.#abort === abort) this.call = ended(call, answer);
    } catch (error) {
      if (this.#abort !== abort) return;
      this.failure = error;
      this.call = undefined;
    }
  }

  /** The server ends the call when the page no longer waits for it. */
  cancel(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    if (this.call?.status === 'running') this.call = { ...this.call, status: 'cancelled' };
  }

  #begin({ toolId, displayName, runsOn }: ToolView, input: unknown): Call {
    this.#count += 1;
    return {
      id: `manual-${this.#count}`,
      messageId: '',
      toolId,
      displayName,
      runsOn,
      input,
      status: 'running',
      asked: false,
      startedAt: Date.now(),
    };
  }
}

function ended(call: Call, { ok, content, error, durationMs }: CallToolAnswer): Call {
  return { ...call, status: ok ? 'done' : 'failed', output: { content }, error, durationMs };
}
