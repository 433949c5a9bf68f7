// What a server might be called, from how it is reached.

/** What says how something is packed or run, and not what it is. */
const NOISE_WORDS =
  /^(?:mcp|server|servers|modelcontextprotocol|npx|uvx|node|python\d*|docker|bunx?|deno|cmd|sh|bash|exe|js|mjs|py|index|main|dist|build|bin|src|run|www|api|app|sse|http|https|com|org|net|io|dev|ai|latest)$/i;

/** Programs that run what their arguments name. */
const RUNNER = /^(?:npx|uvx|uv|node|python[\d.]*|docker|bunx?|deno|pipx|cmd|sh|bash)(?:\.\w+)?$/i;

/** "npx", ["-y", "@modelcontextprotocol/server-memory"]: "memory". Empty where nothing tells. */
export function nameOfProgram(command: string, args: readonly string[]): string {
  const program = command.trim().split(/[/\\]/).at(-1) ?? '';
  const named = RUNNER.test(program)
    ? args.find((text) => !text.startsWith('-') && nameIn(lastPiece(text)))
    : undefined;
  return nameIn(named === undefined ? program : lastPiece(named));
}

/** "https://mcp.linear.app/sse": "linear". */
export function nameOfAddress(url: string): string {
  try {
    const { hostname } = new URL(url);
    if (/^[\d.]+$|^\[/.test(hostname)) return 'server';
    const labels = hostname.split('.');
    return nameIn(labels.slice(0, Math.max(1, labels.length - 1)).join('-')) || nameIn(hostname);
  } catch {
    return '';
  }
}

/** "Swagger Petstore - OpenAPI 3.0": "petstore". Empty where it is written in other letters. */
export function nameOfTitle(title: string): string {
  return nameIn(title.replace(/\b(?:openapi|swagger|rest|v?\d+(?:\.\d+)*)\b/gi, ' '));
}

/** The package or file at the end of a path, without its version. */
function lastPiece(text: string): string {
  const pieces = text.replace(/(?<=.)@[^/@]*$/, '').split(/[/\\]/);
  return pieces.filter((piece) => nameIn(piece)).at(-1) ?? '';
}

function nameIn(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word && !NOISE_WORDS.test(word));
  return words.join('-').toLowerCase().slice(0, 32);
}
