// When to draw something that changes faster than it can be drawn. The longer the last time took,
// the longer the next one waits, so that scrolling and typing always have their share.

/** After a drawing, so many times as long is left to everything else. */
const REST_RATIO = 1;
/** However long it took, a reader sees something new this often. */
const MAX_REST_MS = 200;

export class DrawPacer {
  /** What is to be drawn next. */
  #draw?: () => void;
  /** From the moment that a drawing is scheduled until there was time enough for others. */
  #isBusy = false;

  /** Draws before the next frame of the screen for which it is time; once, however often it is
      asked. */
  request(draw: () => void): void {
    this.#draw = draw;
    if (this.#isBusy) return;
    this.#isBusy = true;
    requestAnimationFrame(() => this.#run());
  }

  #run(): void {
    const began = performance.now();
    const draw = this.#draw;
    this.#draw = undefined;
    draw?.();
    // The browser lays out and paints in the same task, so the next one knows what all of it took.
    setTimeout(() => {
      const restMs = Math.min((performance.now() - began) * REST_RATIO, MAX_REST_MS);
      setTimeout(() => this.#rested(), restMs);
    });
  }

  #rested(): void {
    this.#isBusy = false;
    if (this.#draw) this.request(this.#draw);
  }
}
