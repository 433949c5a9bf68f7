// JSON as people look at it: what kind a value is, its short form, and arrays that are tables.

export type JsonObject = Record<string, unknown>;

/** Longer text is not read as JSON: it would stop the page. */
const MAX_PARSED_CHARS = 8_000_000;

/** The value of a text that is an object or an array; absent where it is none. */
export function parseJson(text: string): object | undefined {
  if (text.length > MAX_PARSED_CHARS || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is inside, in pairs of name or number and value. */
export function childrenOf(value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item]);
  return isObject(value) ? Object.entries(value) : [];
}

export function childCount(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
}

/** One line that says what is in it, without walking through all of it. */
export function shortJson(value: unknown, maxChars: number): string {
  return describe(value, 2).slice(0, maxChars);

  function describe(one: unknown, depth: number): string {
    if (typeof one === 'string') return JSON.stringify(one.slice(0, maxChars));
    if (!Array.isArray(one) && !isObject(one)) return String(one);
    const [open, close] = Array.isArray(one) ? ['[', ']'] : ['{', '}'];
    const count = childCount(one);
    if (count === 0) return `${open}${close}`;
    if (depth === 0) return `${open}…${close}`;
    const shown = firstChildren(one, 4).map(([name, child]) =>
      Array.isArray(one) ? describe(child, depth - 1) : `${name}: ${describe(child, depth - 1)}`,
    );
    return `${open}${shown.join(', ')}${count > 4 ? ', …' : ''}${close}`;
  }
}

/** Whether it takes at most so many characters as JSON; looks at no more of it than that. */
export function isShortJson(value: unknown, maxChars: number): boolean {
  let left = maxChars;
  return fits(value);

  function fits(one: unknown): boolean {
    if (Array.isArray(one)) {
      left -= 2;
      // Each child takes some of what is left, so there are no more steps than characters.
      for (let index = 0; index < one.length; index += 1) {
        left -= 1;
        if (left < 0 || !fits(one[index])) return false;
      }
    } else if (isObject(one)) {
      left -= 2;
      for (const name in one) {
        left -= name.length + 4;
        if (left < 0 || !fits(one[name])) return false;
      }
    } else left -= String(one).length;
    return left >= 0;
  }
}

function firstChildren(value: unknown, count: number): [string, unknown][] {
  if (Array.isArray(value)) return childrenOf(value.slice(0, count));
  const found: [string, unknown][] = [];
  for (const name in value as JsonObject) {
    if (found.length === count) break;
    found.push([name, (value as JsonObject)[name]]);
  }
  return found;
}
