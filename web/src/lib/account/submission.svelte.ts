// A request that a button starts: busy, or the error it ended with.
import { ApiError } from '$lib/api/client';
import { accountErrorText } from './accountErrorText';

export class Submission {
  busy = $state(false);
  error = $state.raw<unknown>();
  problem = $derived(this.error === undefined ? '' : accountErrorText(this.error));
  /** The server's own word for what went wrong. */
  code = $derived(this.error instanceof ApiError ? this.error.code : '');
  /** The field of the request that the server would not have. */
  field = $derived(this.error instanceof ApiError ? this.error.field : undefined);

  /** Whether it worked. A second press while it is under way does nothing. */
  async run(action: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.error = undefined;
    try {
      await action();
      return true;
    } catch (error) {
      this.error = error;
      return false;
    } finally {
      this.busy = false;
    }
  }
}
