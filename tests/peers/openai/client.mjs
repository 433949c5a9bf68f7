// The official JavaScript client against Tenon: `client.mjs NODE_MODULES BASE_URL KEY`. Prints what it
// saw as JSON.
import { pathToFileURL } from 'node:url';

const [modules, baseURL, apiKey] = process.argv.slice(2);
const { default: OpenAI } = await import(pathToFileURL(`${modules}/openai/index.mjs`).href);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 30_000 });
const ask = (more, text = 'what is 6*7') =>
  client.chat.completions.create({
    model: 'default',
    messages: [{ role: 'user', content: text }],
    ...more,
  });
const refusal = async (more) => {
  try {
    await ask(more);
  } catch (error) {
    return [error.status, error.code, error.param];
  }
};

const saw = {};
saw.models = (await client.models.list()).data.map((model) => model.id);
const whole = await ask({});
saw.answer = whole.choices[0].message.content;
saw.finish = whole.choices[0].finish_reason;
saw.counted = whole.usage.total_tokens >= 0;

const pieces = [];
for await (const chunk of await ask({ stream: true, stream_options: { include_usage: true } })) {
  for (const choice of chunk.choices) {
    pieces.push(choice.delta.content ?? '');
    saw.streamedFinish = choice.finish_reason ?? saw.streamedFinish;
  }
}
saw.streamed = pieces.join('');

const cut = await ask({ max_tokens: 1 }, 'hello');
saw.cut = [cut.choices[0].finish_reason, cut.choices[0].message.content.length];
saw.two = await refusal({ n: 2 });
saw.format = await refusal({ response_format: { type: 'json_object' } });
const stranger = new OpenAI({ baseURL, apiKey: 'wrong', maxRetries: 0 });
saw.wrongKey = await stranger.models.list().catch((error) => error.status);

console.log(JSON.stringify(saw));
