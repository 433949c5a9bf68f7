// One call of a tool that is being written: what it prints while it runs, and how it ends.
import type { ErrorDetail, TryEvent, TryModule } from '$lib/api/types';

export interface TrialError {
  message: string;
  /** The same as data, where Tenon itself says it. */
  detail?: ErrorDetail;
  line?: number;
}

export interface TrialState {
  lines: readonly string[];
  /** The progress it reported last, until it is done with that. */
  status: string;
  end?: { result: unknown } | { error: TrialError };
  durationMs?: number;
}

/** A tool that prints without end does not fill the page. */
const MAX_LINES = 500;

export const emptyTrial: TrialState = { lines: [], status: '' };

export function takeEvent(state: TrialState, event: TryEvent): TrialState {
  switch (event.type) {
    case 'line':
      return { ...state, lines: [...state.lines, event.line].slice(-MAX_LINES) };
    case 'event': {
      const status = statusIn(event.event);
      return status === undefined ? state : { ...state, status };
    }
    case 'result': {
      const { result, durationMs } = event;
      return { ...state, status: '', end: { result }, durationMs };
    }
    case 'error': {
      const { message, detail, line, durationMs } = event;
      return { ...state, status: '', end: { error: { message, detail, line } }, durationMs };
    }
  }
}

/** What Open WebUI calls a status: empty once it is done. Absent where it is something else. */
function statusIn(event: unknown): string | undefined {
  const { type, data } = (event ?? {}) as {
    type?: string;
    data?: { description?: unknown; done?: unknown };
  };
  if (type !== 'status') return undefined;
  return data?.done === true || typeof data?.description !== 'string' ? '' : data.description;
}

export class Trial {
  state = $state.raw<TrialState>();
  running = $state(false);
  /** What the server said in place of running it. */
  failure = $state.raw<unknown>();
  #start: (trial: TryModule, signal: AbortSignal) => AsyncIterable<TryEvent>;
  #abort?: AbortController;

  constructor(start: (trial: TryModule, signal: AbortSignal) => AsyncIterable<TryEvent>) {
    this.#start = start;
  }

  async run(trial: TryModule): Promise<void> {
    this.stop();
    const abort = new AbortController();
    this.#abort = abort;
    this.running = true;
    this.failure = undefined;
    this.state = emptyTrial;
    try {
      for await (const event of this.#start(trial, abort.signal)) {
        if (abort.signal.aborted) return;
        this.state = takeEvent(this.state, event);
      }
    } catch (error) {
      if (!abort.signal.aborted) this.failure = error;
    } finally {
      if (this.#abort === abort) this.running = false;
    }
  }

  /** What it printed so far stays. */
  stop(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    this.running = false;
  }
}
