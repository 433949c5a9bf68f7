// How long a page waits for an answer: not long, unless a person has to be asked first.
import { whenPermitted } from './permission';

/** It took too long. */
export class TooLong extends Error {}

/** How long a person may take to answer their browser. */
const ASKED_MS = 60_000;

export interface Patience {
  /** The browser asks the person: the time counts from their answer on. */
  asking: boolean;
  /** Ends it sooner. */
  signal?: AbortSignal;
}

/** Ends what takes longer than this. */
export function limited(ms: number, { asking, signal }: Patience): AbortSignal {
  const limit = new AbortController();
  const end = () => {
    stop();
    limit.abort(new TooLong());
  };
  let timer = setTimeout(end, asking ? ASKED_MS : ms);
  const answered = () => {
    clearTimeout(timer);
    timer = setTimeout(end, ms);
  };
  const stop = asking ? whenPermitted(answered) : () => {};
  return signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
}
