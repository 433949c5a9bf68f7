// Why a request failed, as data that components can show.
import type { ErrorDetail } from './types';

/** With a space, so that no code of the server is the same: it says `unreachable` of others. */
const NO_ANSWER = 'no answer';

export class ApiError extends Error {
  constructor(
    /** The server's own code, or `NO_ANSWER` when it did not answer at all. */
    readonly code: string,
    message: string,
    readonly status = 0,
    /** How long to wait before it is worth asking again, where the server says so. */
    readonly retryAfterMs?: number,
    readonly params: ErrorDetail['params'] = {},
    /** The field of the request that is wrong. */
    readonly field?: string,
  ) {
    super(message);
  }

  static of({ code, message, params, field }: ErrorDetail): ApiError {
    return new ApiError(code, message, 0, undefined, params, field);
  }

  static noAnswer(why: string, status?: number): ApiError {
    return new ApiError(NO_ANSWER, why, status);
  }

  get unreachable(): boolean {
    return this.code === NO_ANSWER;
  }
}
