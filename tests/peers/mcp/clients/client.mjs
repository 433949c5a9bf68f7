// The official TypeScript clients against our MCP server:
// `client.mjs NODE_MODULES v1|v2 http|sse URL` or `client.mjs NODE_MODULES v1|v2 stdio COMMAND ARGS…`.
// Prints what it saw as JSON.
import { callTool, connect } from './connect.mjs';

const [modules, sdk, transport, ...target] = process.argv.slice(2);
const changed = Promise.withResolvers();
const options = {
	capabilities: { elicitation: {}, sampling: {} },
	listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changed.resolve(true) } },
};
const answer = async ({ params }) => ({ action: 'accept', content: { name: params.message } });
const client = await connect({ modules, sdk, transport, target, options, answer });
const call = async (name, input = {}, more) => {
	const result = await callTool(client, sdk, { name, arguments: input }, more);
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
