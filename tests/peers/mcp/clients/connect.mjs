// A client of either official TypeScript SDK, connected over any transport.
import { pathToFileURL } from 'node:url';

/**
 * `sdk` is v1 or v2, `transport` http, sse or stdio, and `target` an address, or a command with its arguments.
 * `answer` fills in forms, `onChanged` hears that the list of tools is another.
 */
export async function connect({ modules, sdk, transport, target, headers, options, answer, onChanged }) {
	const load = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/${path}`).href);
	const found = await (sdk === 'v1' ? loadV1(load) : loadV2(load));
	const client = new found.Client({ name: sdk, version: '1' }, { ...options, ...found.options?.(onChanged) });
	if (answer) client.setRequestHandler(found.elicitation, answer);
	if (onChanged && found.toolsChanged) client.setNotificationHandler(found.toolsChanged, onChanged);
	const requestInit = { headers };
	const [first, ...args] = target;
	const transports = {
		http: () => new found.StreamableHTTPClientTransport(new URL(first), { requestInit }),
		sse: () => new found.SSEClientTransport(new URL(first), { requestInit }),
		stdio: () => new found.StdioClientTransport({ command: first, args }),
	};
	await client.connect(transports[transport]());
	return client;
}

async function loadV1(load) {
	const { ElicitRequestSchema, ToolListChangedNotificationSchema } = await load('sdk/dist/esm/types.js');
	return {
		...(await load('sdk/dist/esm/client/index.js')),
		...(await load('sdk/dist/esm/client/streamableHttp.js')),
		...(await load('sdk/dist/esm/client/sse.js')),
		...(await load('sdk/dist/esm/client/stdio.js')),
		elicitation: ElicitRequestSchema,
		toolsChanged: ToolListChangedNotificationSchema,
	};
}

async function loadV2(load) {
	return {
		...(await load('client/dist/index.mjs')),
		...(await load('client/dist/stdio.mjs')),
		elicitation: 'elicitation/create',
		// It subscribes only where it is told what for.
		options: (onChanged) => ({
			versionNegotiation: { mode: 'auto' },
			...(onChanged && { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } } }),
		}),
	};
}

/** Calls a tool: the two differ in where the options of a request go. */
export function callTool(client, sdk, params, options) {
	return sdk === 'v1' ? client.callTool(params, undefined, options) : client.callTool(params, options);
}
