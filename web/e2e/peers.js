// Real MCP servers for the tests, as `tests/setup` installs them.
import { fileURLToPath } from 'node:url';

const peers = new URL('../../target/peers/', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, peers));

export const memory = path('mcp/node_modules/.bin/mcp-server-memory');
export const everything = path('mcp/node_modules/.bin/mcp-server-everything');
/** Its interpreter and its script. */
export const fast = [
  path('venv-fastmcp/bin/python'),
  fileURLToPath(new URL('../../tests/peers/mcp/fast.py', import.meta.url)),
];
export const time = path('venv-mcp/bin/mcp-server-time');
