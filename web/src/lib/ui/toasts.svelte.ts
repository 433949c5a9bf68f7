// Short messages at the edge of the page, with at most one thing to do about each.

export interface Toast {
  id: number;
  text: string;
  action?: { label: string; run(): void };
}

const TOAST_MS = 6_000;

class Toasts {
  shown = $state.raw<readonly Toast[]>([]);
  #count = 0;

  /** The result names it to `dismiss`. */
  show(text: string, action?: Toast['action'], forMs = TOAST_MS): Toast['id'] {
    const id = ++this.#count;
    this.shown = [...this.shown, { id, text, action }];
    setTimeout(() => this.dismiss(id), forMs);
    return id;
  }

  dismiss(id: Toast['id']): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
