// The hub as the official TypeScript clients see it: `hub.mjs NODE_MODULES v1|v2 BASE KEY SERVER http` or
// `… stdio COMMAND ARGS…`. Prints what it saw as one JSON object.
import { callTool, connect } from './connect.mjs';

const [modules, sdk, base, key, server, transport, ...command] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
const target = transport === 'stdio' ? command : [`${base}/mcp`];
let changed = Promise.withResolvers();
const onChanged = () => {
	changed.resolve();
	changed = Promise.withResolvers();
};
const options = { capabilities: { elicitation: {} } };
const saw = { asked: [] };
const answer = async ({ params }) => {
	saw.asked.push(params.message);
	return { action: 'accept', content: { name: 'Ada' } };
};
const client = await connect({ modules, sdk, transport, target, headers, options, answer, onChanged });
const call = (name, input, more) => callTool(client, sdk, { name, arguments: input }, more);
const names = async () => (await client.listTools()).tools.map((tool) => tool.name);
saw.version = client.getNegotiatedProtocolVersion?.();
saw.tools = await names();

// To cancel ends the call behind at once.
const stop = new AbortController();
const began = Promise.withResolvers();
const long = call(
	'mcp_everything_trigger-long-running-operation',
	{ duration: 600, steps: 600 },
	{ signal: stop.signal, onprogress: began.resolve, timeout: 60_000 },
);
await Promise.race([began.promise, long]);
stop.abort('enough');
saw.cancelled = await long.then(
	() => false,
	() => true,
);
const echo = await call('mcp_everything_echo', { message: 'still here' });
saw.echoed = echo.content[0].text;
const form = await call('mcp_everything_trigger-elicitation-request', {});
saw.form = form.content[0].text;
const uri = 'tenon+everything+demo://resource/dynamic/text/1';
saw.resource = (await client.readResource({ uri })).contents[0].uri;
const prompt = await client.getPrompt({ name: 'mcp_everything_simple-prompt' });
saw.prompt = prompt.messages[0].content.type;

// A server that is added is heard of.
const name = `${sdk}${transport}`;
let heard = changed.promise;
const added = await fetch(`${base}/api/sources`, {
	method: 'POST',
	headers: { ...headers, 'Content-Type': 'application/json' },
	body: JSON.stringify({ kind: 'mcp', name, command: server }),
});
saw.added = added.status;
do {
	await heard;
	heard = changed.promise;
	saw.after = await names();
} while (!saw.after.includes(`mcp_${name}_get_current_time`));
await client.close();
console.log(JSON.stringify(saw));
process.exit(0);
