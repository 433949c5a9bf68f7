// The rows of a long list that are in view or near it: the others need not be drawn.
import { tick } from 'svelte';

/** Rows from `first` to before `end`. */
export interface RowRange {
  first: number;
  end: number;
}

/** A reader who scrolls finds rows drawn. */
const MARGIN_PX = 300;

/** `top` is where the list begins, seen from the top of what it scrolls in. */
export function rowsNear(
  { top, height }: { top: number; height: number },
  rowHeight: number,
  count: number,
): RowRange {
  const clamp = (row: number) => Math.min(Math.max(row, 0), count);
  const first = clamp(Math.floor((-top - MARGIN_PX) / rowHeight));
  const end = clamp(Math.ceil((-top + height + MARGIN_PX) / rowHeight));
  return { first, end: Math.max(first, end) };
}

/** Follows what is in view of a list, which scrolls in a `[data-scrolls]` with one child. */
export class RowWindow {
  range = $state.raw<RowRange>({ first: 0, end: 0 });
  readonly #rowHeight: number;
  readonly #count: () => number;
  #list?: HTMLElement;
  #root?: HTMLElement | null;

  constructor(rowHeight: number, count: () => number) {
    this.#rowHeight = rowHeight;
    this.#count = count;
    // Before anything is measured: as many as a tall screen shows.
    this.range = rowsNear({ top: 0, height: 1200 }, rowHeight, count());
  }

  /** To be attached to the list. */
  follow = (list: HTMLElement): (() => void) => {
    const root = list.closest<HTMLElement>('[data-scrolls]');
    this.#list = list;
    this.#root = root;
    const measure = () => this.measure();
    root?.addEventListener('scroll', measure, { passive: true });
    // What stands above it may grow or go.
    const observer = new ResizeObserver(measure);
    for (const box of [root, root?.firstElementChild]) if (box) observer.observe(box);
    return () => {
      root?.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  };

  measure(): void {
    if (!this.#list || !this.#root) return;
    const view = this.#root.getBoundingClientRect();
    // Something else stands before it.
    if (view.height === 0) return;
    const top = this.#list.getBoundingClientRect().top - view.top;
    const next = rowsNear({ top, height: view.height }, this.#rowHeight, this.#count());
    const { first, end } = this.range;
    if (next.first === first && next.end === end) return;
    const hadFocus = this.#list.contains(document.activeElement);
    this.range = next;
    if (hadFocus) void this.#keepFocus(this.#root);
  }

  /** A row that is no longer drawn takes the focus with it: keys would no longer scroll the
      list. */
  async #keepFocus(root: HTMLElement): Promise<void> {
    await tick();
    if (document.activeElement === document.body) root.focus({ preventScroll: true });
  }
}
