// The official TypeScript clients against our MCP server:
// `client.mjs NODE_MODULES v1|v2 http|sse URL` or `client.mjs NODE_MODULES v1|v2 stdio COMMAND ARGS…`.
// Prints what it saw as JSON.
import { pathToFileURL } from 'node:url';

const [modules, sdk, transport, target, ...args] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/${path}`).href);

const changed = Promise.withResolvers();
const options = {
	capabilities: { elicitation: {}, sampling: {} },
	listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changed.resolve(true) } },
};
const answer = async ({ params }) => ({ action: 'accept', content: { name: params.message } });

async function connectV1() {
	const { Client } = await load('sdk/dist/esm/client/index.js');
	const { ElicitRequestSchema } = await load('sdk/dist/esm/types.js');
	const client = new Client({ name: 'v1', version: '1' }, options);
	client.setRequestHandler(ElicitRequestSchema, answer);
	if (transport === 'stdio') {
		const { StdioClientTransport } = await load('sdk/dist/esm/client/stdio.js');
		await client.connect(new StdioClientTransport({ command: target, args }));
	} else if (transport === 'sse') {
		const { SSEClientTransport } = await load('sdk/dist/esm/client/sse.js');
		await client.connect(new SSEClientTransport(new URL(target)));
	} else {
		const { StreamableHTTPClientTransport } = await load('sdk/dist/esm/client/streamableHttp.js');
		await client.connect(new StreamableHTTPClientTransport(new URL(target)));
	}
	return client;
}

async function connectV2() {
	const { Client, SSEClientTransport, StreamableHTTPClientTransport } =
		await load('client/dist/index.mjs');
	const client = new Client(
		{ name: 'v2', version: '1' },
		{ ...options, versionNegotiation: { mode: 'auto' } },
	);
	client.setRequestHandler('elicitation/create', answer);
	if (transport === 'stdio') {
		const { StdioClientTransport } = await load('client/dist/stdio.mjs');
		await client.connect(new StdioClientTransport({ command: target, args }));
	} else if (transport === 'sse') {
		await client.connect(new SSEClientTransport(new URL(target)));
	} else {
		await client.connect(new StreamableHTTPClientTransport(new URL(target)));
	}
	return client;
}

const client = await (sdk === 'v1' ? connectV1() : connectV2());
const call = async (name, input = {}, more) => {
	const params = { name, arguments: input };
	const result = await (sdk === 'v1'
		? client.callTool(params, undefined, more)
		: client.callTool(params, more));
	return [result.isError === true, ...result.content.map((block) => block.text ?? block.type)];
};
const progress = [];
const { tools } = await client.listTools();
const seen = {
	server: client.getServerVersion()?.name,
	tools: tools.some(({ name }) => name === 'echo'),
	echo: await call('echo', { text: 'héllo 世界' }),
	failure: await call('test_error_handling'),
	contents: await call('test_multiple_content_types'),
	work: await call('test_tool_with_progress', {}, { onprogress: (now) => progress.push(now.progress) }),
	progress,
	form: await call('test_streaming_elicitation'),
	resource: (await client.readResource({ uri: 'test://static-text' })).contents[0].text,
	prompt: (await client.getPrompt({ name: 'test_simple_prompt' })).messages[0].content.text,
	completion: (
		await client.complete({
			ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
			argument: { name: 'arg1', value: 'test' },
		})
	).completion.values,
	unknown: await client.readResource({ uri: 'test://nothing' }).then(
		() => 'read',
		() => 'refused',
	),
};
await call('test_trigger_tool_change');
seen.changed = await changed.promise;
await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
