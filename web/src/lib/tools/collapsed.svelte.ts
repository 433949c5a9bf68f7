// Which parts of the panel of tools are collapsed, as this browser remembers it.
import { loadSetting, saveSetting } from '$lib/storage';

const KEY = 'tools.collapsed';
/** A longer list hides what comes after it, so it begins collapsed. */
const LONG_LIST = 50;
/** Of the oldest there is nothing to remember: their sources are long gone. */
const MAX_REMEMBERED = 500;

export class CollapsedParts {
  #chosen = $state.raw<ReadonlyMap<string, boolean>>(read());

  /** `count` is how many it would show. */
  has(part: string, count = 0): boolean {
    return this.#chosen.get(part) ?? count > LONG_LIST;
  }

  set(part: string, isCollapsed: boolean): void {
    const others = [...this.#chosen].filter(([other]) => other !== part);
    const all: [string, boolean][] = [...others, [part, isCollapsed]];
    this.#chosen = new Map(all.slice(-MAX_REMEMBERED));
    saveSetting(KEY, JSON.stringify(Object.fromEntries(this.#chosen)));
  }
}

function read(): ReadonlyMap<string, boolean> {
  try {
    const stored: unknown = JSON.parse(loadSetting(KEY) ?? '{}');
    const entries = Object.entries(stored as Record<string, unknown>);
    return new Map(entries.filter((one): one is [string, boolean] => typeof one[1] === 'boolean'));
  } catch {
    return new Map();
  }
}
