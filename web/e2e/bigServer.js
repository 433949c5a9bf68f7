// An OpenAPI server with very many operations.
import { once } from 'node:events';
import { createServer } from 'node:http';

export async function startBigServer(count) {
  const operations = Array.from({ length: count }, (_, index) => [
    `/operations/${index}`,
    {
      get: {
        operationId: `operation_${index}`,
        summary: `Does operation ${index}`,
        description: `Reads what is known of number ${index} and says it in a sentence.`,
        parameters: [{ name: 'depth', in: 'query', schema: { type: 'integer' } }],
        responses: { 200: { description: 'What is known' } },
      },
    },
  ]);
  const document = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Big', version: '1' },
    paths: Object.fromEntries(operations),
  });
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(request.url === '/openapi.json' ? document : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    count,
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
