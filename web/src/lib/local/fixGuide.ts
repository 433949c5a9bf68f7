// What to type where, so that a tool server can be used from this page.
import type { Diagnosis } from './diagnose';

export type ServerToolkit = 'mcpo' | 'fastmcp' | 'express' | 'other';
export type Topic = 'start' | 'cors' | 'tls' | 'where' | 'key';

export interface FixContext {
  /** Of this page. */
  origin: string;
  /** Of the tool server. */
  url: string;
}

/** What helps against a trouble, for each way such a server is made. */
export interface FixGuide {
  topic: Topic;
  lines: readonly { maker: ServerToolkit; code: string }[];
}

const TOPICS: Partial<Record<Diagnosis['kind'], Topic>> = {
  blockedPort: 'start',
  notRunning: 'start',
  notRunningOrNotHttp: 'start',
  notHttp: 'start',
  cors: 'cors',
  preflightHeader: 'cors',
  preflightMethod: 'cors',
  hiddenHeader: 'cors',
  preflightRefused: 'cors',
  tlsNotTrusted: 'tls',
  tlsOrNotRunning: 'tls',
  needsKey: 'key',
  wrongPath: 'where',
  notToolServer: 'where',
  badHandshake: 'where',
};

/** Where the port of an address cannot be used by any browser. */
const FALLBACK_PORT = 8000;

export function fixGuideFor(
  { kind }: Pick<Diagnosis, 'kind'>,
  site: FixContext,
): FixGuide | undefined {
  const topic = TOPICS[kind];
  if (!topic) return undefined;
  const port = kind === 'blockedPort' ? FALLBACK_PORT : portOf(site.url);
  const written = { start, cors, tls, where, key }[topic]({ ...site, port });
  return {
    topic,
    lines: Object.entries(written).map(([maker, code]) => ({
      maker: maker as ServerToolkit,
      code,
    })),
  };
}

export function startGuide(site: FixContext): FixGuide {
  return fixGuideFor({ kind: 'notRunning' }, site) as FixGuide;
}

type Written = Partial<Record<ServerToolkit, string>>;
type At = FixContext & { port: number };

/** With mcpo 0.0.20 these versions of what it stands on start; newer ones do not. */
const UVX_MCPO = 'uvx --with mcp==1.26.0 --with fastapi==0.128.0 mcpo';

function start({ origin, port }: At): Written {
  return {
    mcpo: `${UVX_MCPO} --host 127.0.0.1 --port ${port} --cors-allow-origins "${origin}" -- uvx mcp-server-time`,
    fastmcp: `from fastmcp import FastMCP
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

mcp = FastMCP("Mine")

@mcp.tool
def add(a: int, b: int) -> int:
    return a + b

${runFastmcp({ origin, port })}`,
    express: `import cors from 'cors';
import express from 'express';

const app = express();
${useCors(origin)}
app.get('/openapi.json', (request, response) => response.json({
  openapi: '3.1.0',
  info: { title: 'Mine', version: '1' },
  paths: { '/now': { get: { operationId: 'now', responses: { 200: { description: 'The time' } } } } },
}));
app.get('/now', (request, response) => response.json(new Date()));
app.listen(${port}, '127.0.0.1');`,
  };
}

function cors({ origin, port }: At): Written {
  return {
    mcpo: `--cors-allow-origins "${origin}"`,
    fastmcp: `from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

${runFastmcp({ origin, port })}`,
    express: `import cors from 'cors';

${useCors(origin)}`,
    other: `Access-Control-Allow-Origin: ${origin}
Access-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE, OPTIONS
Access-Control-Allow-Headers: Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name
Access-Control-Expose-Headers: Mcp-Session-Id, Content-Disposition`,
  };
}

function tls({ port }: At): Written {
  const mkcert = 'mkcert -install && mkcert localhost';
  return {
    mcpo: `${mkcert}
--ssl-certfile localhost.pem --ssl-keyfile localhost-key.pem`,
    fastmcp: `# ${mkcert}
mcp.run(
    transport="http", host="127.0.0.1", port=${port},
    uvicorn_config={"ssl_certfile": "localhost.pem", "ssl_keyfile": "localhost-key.pem"},
)`,
    express: `// ${mkcert}
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const cert = readFileSync('localhost.pem');
const key = readFileSync('localhost-key.pem');
createServer({ cert, key }, app).listen(${port}, '127.0.0.1');`,
  };
}

function where({ url }: At): Written {
  const { origin } = new URL(url);
  return {
    mcpo: origin,
    fastmcp: `${origin}/mcp`,
    express: `${origin}/openapi.json`,
  };
}

function key(): Written {
  return { mcpo: '--api-key' };
}

function runFastmcp({ origin, port }: Pick<At, 'origin' | 'port'>): string {
  return `mcp.run(
    transport="http", host="127.0.0.1", port=${port},
    middleware=[Middleware(
        CORSMiddleware, allow_origins=["${origin}"],
        allow_methods=["*"], allow_headers=["*"], expose_headers=["mcp-session-id"],
    )],
)`;
}

function useCors(origin: string): string {
  return `app.use(cors({ origin: '${origin}', exposedHeaders: ['mcp-session-id'] }));`;
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}
