// Draws Mermaid diagrams in a frame without origin, cookies or network. One hidden frame draws
// all of them: Mermaid is large, and what it gives back is shown as pictures.
import libraryAddress from '@mermaid-js/tiny/dist/mermaid.tiny.js?url';
import { PREVIEW_PATH } from '$lib/api/paths';
import { diagramReply, type DiagramResult } from './diagram';
import frameScript from './frame.js?raw';
import { mermaidConfig } from './mermaidConfig';

/** Longer ones are shown as their source. */
export const MAX_DIAGRAM_CHARS = 30_000;
const DRAW_TIMEOUT_MS = 15_000;
/** A frame with Mermaid in it takes memory. */
const IDLE_MS = 120_000;
/** A chat that is scrolled shows the same ones again. */
const MAX_CACHED = 100;

interface Drawing {
  id: number;
  diagram: string;
  done: (result: DiagramResult) => void;
}

class DiagramFrame {
  #frame = document.createElement('iframe');
  #library: Promise<string>;
  #ready = false;
  #closed = false;
  #waiting: Drawing[] = [];
  #running?: Drawing;
  #timer?: ReturnType<typeof setTimeout>;
  #onclose: () => void;

  constructor(onclose: () => void) {
    this.#onclose = onclose;
    this.#library = loadLibrary();
    // Handled when it is sent.
    this.#library.catch(() => {});
    const frame = this.#frame;
    frame.sandbox.add('allow-scripts');
    frame.referrerPolicy = 'no-referrer';
    frame.tabIndex = -1;
    frame.inert = true;
    frame.ariaHidden = 'true';
    // Out of sight, but laid out: Mermaid measures words.
    frame.style.cssText =
      'position:fixed;inset:0 auto auto -2000px;width:1200px;height:800px;border:0;visibility:hidden';
    const html = `<!doctype html><meta charset="utf-8"><body><script>${frameScript}</script>`;
    frame.addEventListener('load', () => frame.contentWindow?.postMessage({ html }, '*'), {
      once: true,
    });
    addEventListener('message', this.#hear);
    frame.src = PREVIEW_PATH;
    document.body.append(frame);
    // A frame that never gets ready is closed like one that never draws.
    this.#rest(DRAW_TIMEOUT_MS);
  }

  draw(drawing: Drawing): void {
    this.#waiting.push(drawing);
    this.#next();
  }

  #hear = ({ source, data }: MessageEvent): void => {
    if (!source || source !== this.#frame.contentWindow) return;
    const reply = diagramReply(data);
    if (reply === 'ready') void this.#sendLibrary();
    else if (reply && reply.id === this.#running?.id) this.#finish(reply.result);
  };

  async #sendLibrary(): Promise<void> {
    if (this.#ready) return;
    try {
      const library = await this.#library;
      // It took too long, and another frame may be at work.
      if (this.#closed) return;
      this.#send({ library });
      this.#ready = true;
      this.#next();
    } catch {
      this.#close();
    }
  }

  #next(): void {
    if (!this.#ready || this.#running) return;
    const drawing = this.#waiting.shift();
    if (!drawing) return this.#rest(IDLE_MS);
    this.#running = drawing;
    this.#rest(DRAW_TIMEOUT_MS);
    this.#send({ id: drawing.id, diagram: drawing.diagram, config: mermaidConfig() });
  }

  #finish(result: DiagramResult): void {
    const done = this.#running?.done;
    this.#running = undefined;
    done?.(result);
    this.#next();
  }

  #rest(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#close(), ms);
  }

  #send(message: object): void {
    this.#frame.contentWindow?.postMessage(message, '*');
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    removeEventListener('message', this.#hear);
    this.#frame.remove();
    this.#onclose();
    for (const { done } of [this.#running, ...this.#waiting].filter((one) => !!one)) {
      done({ error: '' });
    }
  }
}

let frame: DiagramFrame | undefined;
let lastId = 0;
let library: Promise<string> | undefined;
const cache = new Map<string, DiagramResult>();

/** Never fails: what cannot be drawn says why. `theme` names the colours, which are read from the
    page. */
export async function drawDiagram(diagram: string, theme: string): Promise<DiagramResult> {
  if (diagram.length > MAX_DIAGRAM_CHARS) return { error: '' };
  const key = `${theme}\n${diagram}`;
  const known = cache.get(key);
  if (known) return known;
  const result = await new Promise<DiagramResult>((done) => {
    frame ??= new DiagramFrame(() => (frame = undefined));
    frame.draw({ id: ++lastId, diagram, done });
  });
  const oldest = cache.keys().next();
  if (cache.size >= MAX_CACHED && !oldest.done) cache.delete(oldest.value);
  // One that got no answer may get one the next time.
  if (!('error' in result) || result.error) cache.set(key, result);
  return result;
}

function loadLibrary(): Promise<string> {
  library ??= fetch(libraryAddress)
    .then((response) => {
      if (!response.ok) throw new Error(`status ${response.status}`);
      return response.text();
    })
    .catch((error: unknown) => {
      // Asked again with the next diagram.
      library = undefined;
      throw error;
    });
  return library;
}
