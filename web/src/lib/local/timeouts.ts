// How long a page waits for an answer: not long, unless a person has to be asked first.
import { onPermissionChange } from './permission';

/** It took too long. */
export class TimeoutError extends Error {}

/** How long a person may take to answer their browser. */
const PROMPT_TIMEOUT_MS = 60_000;

export interface TimeoutOptions {
  /** The browser asks the person: the time counts from their answer on. */
  asking: boolean;
  /** Ends it sooner. */
  signal?: AbortSignal;
}

/** Ends what takes longer than this. */
export function timeoutSignal(ms: number, { asking, signal }: TimeoutOptions): AbortSignal {
  const limit = new AbortController();
  const end = () => {
    stop();
    limit.abort(new TimeoutError());
  };
  let timer = setTimeout(end, asking ? PROMPT_TIMEOUT_MS : ms);
  const answered = () => {
    clearTimeout(timer);
    timer = setTimeout(end, ms);
  };
  const stop = asking ? onPermissionChange(answered) : () => {};
  return signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
}
