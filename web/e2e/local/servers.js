// Servers on this machine, each with one thing wrong.
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';

const running = new Set();

/** Where a server answers that does this. It runs until all of them are stopped. */
export async function serve(answer, { certificate } = {}) {
  const server = certificate ? https.createServer(certificate, answer) : http.createServer(answer);
  const port = await listen(server);
  return `${certificate ? 'https' : 'http'}://localhost:${port}`;
}

/** One that does this with every connection. */
export async function listenRaw(connected) {
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    connected(socket);
  });
  server.closeAllConnections = () => sockets.forEach((socket) => socket.destroy());
  return `http://localhost:${await listen(server)}`;
}

async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.add(server);
  return server.address().port;
}

export function stopServers() {
  for (const server of running) {
    server.close();
    server.closeAllConnections();
  }
  running.clear();
}

/** A port where nobody listens. */
export async function closedPort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** As a server says it that lets everybody in. */
export const open = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
};

const operation = {
  operationId: 'add',
  requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
  responses: { 200: { description: 'The sum' } },
};

export const description = {
  openapi: '3.1.0',
  info: { title: 'Small', version: '1' },
  paths: { '/add': { post: operation } },
};

/** Has this document, with these headers on everything. */
export function documents(document, headers = open, { preflight = 204 } = {}) {
  const body = typeof document === 'string' ? document : JSON.stringify(document);
  return (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(preflight, headers).end();
    const isThere = request.url === '/openapi.json' && request.method === 'GET';
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json', ...headers });
    response.end(isThere ? body : '{"detail":"Not Found"}');
  };
}

/** An MCP server at /mcp that answers each method with what is given here for it. */
export function speaksMcp(answers, headers = open) {
  return async (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, headers).end();
    if (request.url !== '/mcp') return response.writeHead(404, headers).end();
    if (request.method !== 'POST') return response.writeHead(405, headers).end();
    let text = '';
    for await (const piece of request) text += piece;
    const { id, method } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202, headers).end();
    const unknown = { error: { code: -32601, message: 'Method not found' } };
    const answer = answers[method] ?? unknown;
    if (answer === 'silence') return undefined;
    const body =
      typeof answer === 'string' ? answer : JSON.stringify({ jsonrpc: '2.0', id, ...answer });
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
  };
}

export const initialized = {
  result: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'small', version: '1' },
  },
};

const handshake = {
  result: {
    ...initialized.result,
    capabilities: [
      {
        id: 'forecast',
        description: 'The weather of the next days.',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' }, days: { type: 'integer' } },
          required: ['city'],
        },
        invocation: {
          type: 'http',
          method: 'GET',
          url: '/forecast/{city}',
          mapping: { city: 'path', days: 'query' },
        },
      },
    ],
  },
};

/** One whose handshake describes its tools as HTTP requests: in the answer to a POST at `/mcp`, or
    in an event at `/sse`. */
export async function startCapabilities(transport) {
  // Clients of MCP send headers that its makers do not know yet.
  const lenient = { ...open, 'access-control-allow-headers': '*' };
  const url = await serve(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const [, place, city] = pathname.split('/');
    if (place === 'forecast') {
      const body = JSON.stringify({ city, days: searchParams.get('days'), sky: 'clear' });
      response.writeHead(200, { 'content-type': 'application/json', ...open }).end(body);
    } else if (transport === 'sse' && pathname === '/sse' && request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...open });
      const event = JSON.stringify({ jsonrpc: '2.0', id: 1, ...handshake });
      response.write(`event: message\ndata: ${event}\n\n`);
    } else if (transport === 'http') {
      await speaksMcp({ initialize: handshake }, lenient)(request, response);
    } else {
      response.writeHead(request.method === 'OPTIONS' ? 204 : 404, lenient).end();
    }
  });
  return { url, stop: stopServers };
}
