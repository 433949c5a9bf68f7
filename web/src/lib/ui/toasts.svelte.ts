// Short messages at the edge of the page, with at most one thing to do about each.

export interface Toast {
  id: number;
  text: string;
  action?: { label: string; run(): void };
}

const SHOWN_MS = 6_000;

class Toasts {
  shown = $state.raw<readonly Toast[]>([]);
  #count = 0;

  show(text: string, action?: Toast['action'], forMs = SHOWN_MS): void {
    const id = ++this.#count;
    this.shown = [...this.shown, { id, text, action }];
    setTimeout(() => this.dismiss(id), forMs);
  }

  dismiss(id: number): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
