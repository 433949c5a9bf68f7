// The same as doors.py with the official JavaScript client: `doors.mjs NODE_MODULES BASE_URL KEY CHAT`.
import { pathToFileURL } from 'node:url';

const [modules, baseURL, apiKey, chat] = process.argv.slice(2);
const { default: OpenAI } = await import(pathToFileURL(`${modules}/openai/index.mjs`).href);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 30_000 });
const day = { name: 'day', in: 'path', required: true, schema: { type: 'string' } };
const server = {
  url: 'http://localhost:9/diary',
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Diary', version: '1' },
    paths: { '/days/{day}': { get: { operationId: 'read', parameters: [day] } } },
  },
};
const pixel = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';
const ask = (messages, more) =>
  client.chat.completions.create({ model: 'default', messages, ...more });
const user = (content) => ({ role: 'user', content });

const saw = {};
const picture = [
  { type: 'text', text: 'What is it?' },
  { type: 'image_url', image_url: { url: pixel } },
];
saw.picture = (await ask([user(picture)])).choices[0].message.content;

const brought = { tool_ids: [], tool_servers: [server] };
const messages = [user('What happened on Monday?')];
const { finish_reason, message } = (await ask(messages, brought)).choices[0];
const [call] = message.tool_calls;
saw.call = [finish_reason, call.function.name, JSON.parse(call.function.arguments)];
saw.request = [call.tool_server.operation, call.tool_server.request.url];
const result = { role: 'tool', tool_call_id: call.id, content: 'It rained.' };
saw.answer = (await ask([...messages, message, result], brought)).choices[0].message.content;

saw.streamed = [];
for await (const chunk of await ask(messages, { ...brought, stream: true })) {
  for (const { delta, finish_reason } of chunk.choices) {
    saw.streamed.push(...(delta.tool_calls ?? []).map((made) => made.function.name));
    if (finish_reason) saw.streamed.push(finish_reason);
  }
}

const recorded = await ask([user('Remember me.')], { chat_id: chat });
saw.recorded = recorded.choices[0].message.content;
await ask([user('Whose is it?')], { chat_id: '00000000-0000-0000-0000-000000000000' }).catch(
  (error) => (saw.foreign = [error.status, error.param]),
);

console.log(JSON.stringify(saw));
