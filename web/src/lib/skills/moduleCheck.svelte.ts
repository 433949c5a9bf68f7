// What a module that is being written offers, looked up while it is typed.
import type { ModuleCode, ModuleView } from '$lib/api/types';

/** Whoever types is not interrupted. */
const CHECK_DEBOUNCE_MS = 800;

export class ModuleCheck {
  /** What the last answer said; it may be about an earlier text. */
  view = $state.raw<ModuleView>();
  /** The text that the answer is about. */
  checked = $state.raw<ModuleCode>();
  busy = $state(false);
  /** What the server said in place of an answer. */
  failure = $state.raw<unknown>();
  #describe: (module: ModuleCode) => Promise<ModuleView>;
  #asked = 0;
  #debounce?: ReturnType<typeof setTimeout>;

  constructor(describe: (module: ModuleCode) => Promise<ModuleView>) {
    this.#describe = describe;
  }

  /** Checks once nothing was typed for a while. */
  soon(module: ModuleCode): void {
    clearTimeout(this.#debounce);
    this.#debounce = setTimeout(() => void this.now(module), CHECK_DEBOUNCE_MS);
  }

  /** Absent where it could not be looked up, or something else is being looked up by now. */
  async now(module: ModuleCode): Promise<ModuleView | undefined> {
    clearTimeout(this.#debounce);
    const asked = ++this.#asked;
    const isNewest = () => asked === this.#asked;
    this.busy = true;
    try {
      const view = await this.#describe(module);
      if (!isNewest()) return undefined;
      this.view = view;
      this.checked = module;
      this.failure = undefined;
      return view;
    } catch (error) {
      if (isNewest()) this.failure = error;
      return undefined;
    } finally {
      if (isNewest()) this.busy = false;
    }
  }

  /** Forgets what is not about the text at hand. */
  clear(): void {
    this.stop();
    this.view = undefined;
    this.checked = undefined;
    this.failure = undefined;
  }

  /** Asks for nothing more, and believes no answer that is under way. */
  stop(): void {
    clearTimeout(this.#debounce);
    this.#asked += 1;
    this.busy = false;
  }
}
