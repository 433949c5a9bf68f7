// A tool server that counts: an OpenAPI one that pages of every origin may use.
import { createServer } from 'node:http';
import { once } from 'node:events';

const document = {
  openapi: '3.1.0',
  info: { title: 'counter', version: '1' },
  paths: {
    '/count': {
      post: {
        operationId: 'count',
        summary: 'Counts a number, after a while.',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { number: { type: 'integer' }, ms: { type: 'integer' } },
                required: ['number'],
              },
            },
          },
        },
        responses: { 200: { description: 'The number' } },
      },
    },
  },
};

/** On this port, if one is given. */
export async function startCounter(port = 0) {
  /** How often each number came. */
  const counted = new Map();
  const seen = { asked: 0 };
  const server = createServer(async (request, response) => {
    seen.asked += 1;
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', 'content-type');
    response.setHeader('access-control-max-age', '600');
    response.setHeader('content-type', 'application/json');
    if (request.method === 'OPTIONS') return response.end();
    if (request.url === '/openapi.json') return response.end(JSON.stringify(document));
    if (request.url !== '/count') return response.writeHead(404).end('{}');
    let text = '';
    for await (const piece of request) text += piece;
    const { number, ms = 0 } = JSON.parse(text);
    counted.set(number, (counted.get(number) ?? 0) + 1);
    if (ms) await new Promise((resolve) => setTimeout(resolve, ms));
    response.end(JSON.stringify({ number }));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    counted,
    /** How many requests came at all. */
    get asked() {
      return seen.asked;
    },
    url: `http://localhost:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
