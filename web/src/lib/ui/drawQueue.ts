// What is to be drawn and need not be at once: piece by piece, for as long as a frame of the screen
// has room for it.
import { flushSync } from 'svelte';

/** A fifth of a frame at 60 Hz: to lay out and paint what was drawn takes the browser twice as
    long, and the last piece may take longer than there was time for. */
const BUDGET_MS = 3;

/** Draws a piece, and tells whether there is more. */
export type Drawing = () => boolean;

let queue: Drawing[] = [];

/** In this order, after what is there already. */
export function drawSoon(drawings: readonly Drawing[]): void {
  const isDrawing = queue.length > 0;
  queue.push(...drawings);
  if (!isDrawing) drawSome();
}

/** Before all others: what has been begun is finished first. Returns how to stop. */
export function drawNext(drawing: Drawing): () => void {
  const isDrawing = queue.length > 0;
  queue.unshift(drawing);
  if (!isDrawing) requestAnimationFrame(drawSome);
  return () => remove(drawing);
}

/** All of it, at once. */
export function drawEverything(): void {
  while (drawPiece());
}

function drawSome(): void {
  const began = performance.now();
  while (performance.now() - began < BUDGET_MS) if (!drawPiece()) return;
  if (queue.length > 0) requestAnimationFrame(drawSome);
}

/** Whether there was one. */
function drawPiece(): boolean {
  const drawing = queue[0];
  if (!drawing) return false;
  // Drawn before it leaves: what it puts into the queue is not the first there.
  const hasMore = drawing();
  flushSync();
  if (!hasMore) remove(drawing);
  return true;
}

function remove(drawing: Drawing): void {
  queue = queue.filter((other) => other !== drawing);
}
