// A provider of models for a test: small, and exact about the few things it says.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

export class Provider {
  /** Where it answers, as somebody would type it. */
  url = '';
  key = 'sk-good';
  /** What was asked for, request by request. */
  asked = [];
  /** Answers every question with this refusal while it is set. */
  refusal = undefined;
  /** Does not answer messages with this text while it is set. */
  stallsAt = undefined;
  /** What it says instead of a greeting while it is set. */
  says = undefined;
  /** Calls no tool, whoever asks for it, while it is set. */
  callsNoTools = false;
  /** What it calls before it says that: tools by the end of their names, with their input. */
  calls = [];
  /** How it says that: in pieces of so many characters, so many at once, and a pause between. */
  pace = { pieceChars: 40, atOnce: Infinity, pauseMs: 0 };

  #server = createServer((request, response) => void this.#answer(request, response));

  static async start() {
    const provider = new Provider();
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    provider.url = `http://127.0.0.1:${provider.#server.address().port}`;
    return provider;
  }

  /** Ends what it has not answered yet. */
  hangUp() {
    this.#server.closeAllConnections();
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request, response) {
    let text = '';
    for await (const piece of request) text += piece;
    const say = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (this.key && request.headers.authorization !== `Bearer ${this.key}`) {
      return say(401, { error: { message: 'Incorrect API key provided.' } });
    }
    if (request.url === '/v1/models') {
      const data = ['fake-small', 'fake-large', 'fake-slow'].map((id) => ({ id, object: 'model' }));
      return say(200, { object: 'list', data });
    }
    if (request.url !== '/v1/chat/completions') return say(404, { error: { message: 'No.' } });
    const body = JSON.parse(text);
    this.asked.push(body);
    if (this.refusal) return say(this.refusal.status, { error: { message: this.refusal.message } });
    if (this.stallsAt && textOf(body.messages.at(-1)).includes(this.stallsAt)) return;
    // What it does not see it does not call.
    const heard = this.callsNoTools ? { ...body, tools: undefined } : body;
    await stream(response, heard, this.says, this.calls, this.pace);
  }
}

async function stream(response, { model, tools, messages }, says, calls, pace) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const say = (chunk) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model, choices: [], ...chunk })}\n\n`,
    );
  const choose = (delta, finish_reason = null) =>
    say({ choices: [{ index: 0, delta, finish_reason }] });
  const told = toldToCall(messages, tools) ?? askedForWeather(messages, tools);
  // Otherwise the only call it makes is the one that the test of a model asks for.
  if (calls.length > 0 && tools && messages.at(-1).role === 'user') {
    const tool_calls = calls.map(({ tool, input }, index) => {
      const { name } = tools.map((one) => one.function).find((one) => one.name.endsWith(tool));
      const call = { name, arguments: JSON.stringify(input) };
      return { index, id: `call-${messages.length}-${index}`, type: 'function', function: call };
    });
    choose({ tool_calls });
    choose({}, 'tool_calls');
  } else if (told) {
    choose({ tool_calls: [{ index: 0, id: told.id, type: 'function', function: told.call }] });
    choose({}, 'tool_calls');
  } else if (tools?.some((tool) => tool.function.name === 'open_door')) {
    const call = { name: 'open_door', arguments: '{"number":7}' };
    choose({ tool_calls: [{ index: 0, id: 'call1', type: 'function', function: call }] });
    choose({}, 'tool_calls');
  } else if (messages.at(-1).tool_call_id?.startsWith('weather')) {
    choose({ content: textOf(messages.at(-1)) });
    choose({}, 'stop');
  } else if (says !== undefined) {
    const pieces = says.match(new RegExp(`[^]{1,${pace.pieceChars}}`, 'g')) ?? [];
    for (const [index, content] of pieces.entries()) {
      choose({ content });
      if (index % pace.atOnce === pace.atOnce - 1) await setTimeout(pace.pauseMs);
      // Nobody reads the rest.
      if (response.destroyed) return;
    }
    choose({}, 'stop');
  } else {
    for (const word of ['Hello', ' from', ` ${model}.`]) {
      choose({ content: word });
      // It never gets to its second word.
      if (model === 'fake-slow') return;
    }
    choose({}, 'stop');
  }
  say({
    usage: {
      prompt_tokens: 1200,
      completion_tokens: 30,
      total_tokens: 1230,
      prompt_tokens_details: { cached_tokens: 800 },
    },
  });
  response.end('data: [DONE]\n\n');
}

/** "Call echo {"message": "hi"}" is done once, with the tool whose name ends so. */
function toldToCall(messages, tools) {
  const last = messages.at(-1);
  const said = last.role === 'user' ? /^Call (\S+)(?: (.*))?$/.exec(textOf(last)) : undefined;
  const tool = tools?.find(({ function: { name } }) => said && name.endsWith(said[1]));
  if (!tool) return undefined;
  // Ids are a conversation's, and so is its length.
  const call = { name: tool.function.name, arguments: said[2] ?? '{}' };
  return { id: `call-${messages.length}`, call };
}

/** The one prompt of an evaluation that it understands. */
function askedForWeather(messages, tools) {
  const last = messages.at(-1);
  const asked = last.role === 'user' && textOf(last).includes('weather like in Oslo');
  const call = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
  return asked && tools ? { id: 'weather', call } : undefined;
}

function textOf({ content }) {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}
