// Copies a text, and marks for a moment that it was copied.
import { copyText } from './clipboard';

/** Long enough to be read. */
export const COPIED_MS = 1500;

/** `Kind` tells apart what one component can copy. */
export class CopyFeedback<Kind extends string> {
  /** What was copied a moment ago. */
  copied = $state<Kind>();
  #timer?: ReturnType<typeof setTimeout>;

  /** Whether it worked. The mark stays for its whole time, however shortly before there was
      another copy; a copy that fails removes it. */
  async copy(kind: Kind, text: string): Promise<boolean> {
    const worked = await copyText(text);
    clearTimeout(this.#timer);
    this.copied = worked ? kind : undefined;
    if (worked) this.#timer = setTimeout(() => (this.copied = undefined), COPIED_MS);
    return worked;
  }
}
