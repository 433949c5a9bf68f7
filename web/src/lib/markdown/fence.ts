// What stands after the fence of a code block: its language, and sometimes its name.

export interface FenceInfo {
  /** As it was written. */
  language: string;
  /** The file or title that the code is for. */
  name?: string;
}

const MAX_NAME_CHARS = 80;

/** Reads `html index.html`, `html:index.html`, `html title="Index"` and `index.html`. */
export function fenceInfo(info: string | undefined): FenceInfo {
  const language = info?.match(/^[^\s{,:]+/)?.[0] ?? '';
  const rest = info?.slice(language.length) ?? '';
  const named =
    /\b(?:title|filename|file|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s}]+))/i.exec(rest) ??
    /^:\s*([^\s{}]+)/.exec(rest) ??
    /^\s+([^\s={}"']+\.[a-z0-9]{1,8})(?=\s|$)/i.exec(rest);
  const name = named
    ?.slice(1)
    .find((part) => part !== undefined)
    ?.trim();
  return name ? { language, name: [...name].slice(0, MAX_NAME_CHARS).join('') } : { language };
}
