// Which languages can be coloured by now. Asking for one loads it; until it is
// there, and where it cannot be had, code is plain.
import { SvelteMap } from 'svelte/reactivity';
import type { Highlight } from './growingCode';
import { languageName } from './languages';

const loaded = new SvelteMap<string, Highlight>();
const loading = new Map<string, Promise<void>>();

export function highlightOf(written: string): Highlight | undefined {
  const name = languageName(written);
  if (!name) return undefined;
  if (!loaded.has(name)) void loadHighlight(name);
  return loaded.get(name);
}

/** Settles when code of this language can be coloured, or it is known that it cannot. */
export function loadHighlight(name: string): Promise<void> {
  let load = loading.get(name);
  if (!load) {
    load = import('./highlighter')
      .then((module) => module.highlighter(name))
      .then((highlight) => void loaded.set(name, highlight))
      // Asked again with the next code.
      .catch(() => void loading.delete(name));
    loading.set(name, load);
  }
  return load;
}
