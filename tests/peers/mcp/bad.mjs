// MCP servers that misbehave on purpose: `node bad.mjs HOW [FILE]`, over stdio.
//
// Each HOW is one fault, and everything else is as it should be. What a server
// does is written to FILE as lines, so that a test can see it after its death.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [how = 'good', file] = process.argv.slice(2);

const object = { type: 'object', properties: {} };
const reads = { readOnlyHint: true };
const never = new Promise(() => {});

/** The tools of a good server, by name. */
const good = {
	echo: {
		annotations: reads,
		inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
		run: ({ text = 'echo' }) => text,
	},
	// Answers at the second life, so that the first can be ended while it runs.
	read: { annotations: reads, run: () => lives() > 1 ? `read in life ${lives()}` : never },
	set: { annotations: { idempotentHint: true }, run: () => lives() > 1 ? `set in life ${lives()}` : never },
	write: { run: () => lives() > 1 ? `written in life ${lives()}` : never },
	slow: {
		inputSchema: { type: 'object', properties: { steps: { type: 'integer' }, ms: { type: 'integer' } } },
		run: async ({ steps = 1, ms = 100 }, { progress }) => {
			for (let step = 1; step <= steps; step++) {
				await sleep(ms);
				progress(step, steps);
			}
			return 'slow but sure';
		},
	},
	hang: { run: () => never },
	pid: { annotations: reads, run: () => String(process.pid) },
};

const bad = {
	good: {},
	// Never says anything.
	'hang-initialize': { initialize: () => never, 'server/discover': () => never },
	'hang-list': { 'tools/list': () => never },
	// Lists once, then never again, and says that there is something new when it is called.
	'hang-second-list': {
		'tools/list': () => (lists++ === 0 ? list() : never),
		tools: {
			renew: {
				run() {
					notify('notifications/tools/list_changed');
					return 'said so';
				},
			},
		},
	},

	// Writes logs, half messages and bytes that are no text where only messages belong.
	garbage: {
		every() {
			process.stdout.write('Server listening on stdio\n{"jsonrpc":"2.0","id":\n[]\n\n42\n{}\n"text"\n');
			process.stdout.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
			process.stdout.write(`[info] ${'x'.repeat(200_000)}\n`);
		},
	},

	// More tools than anybody can use, in pages.
	many: {
		'tools/list'({ cursor }) {
			const from = Number(cursor ?? 0);
			const tools = Array.from({ length: 1000 }, (_, n) => ({
				name: `tool_${from + n}`,
				description: `The tool with the number ${from + n}.`,
				inputSchema: {
					type: 'object',
					properties: { path: { type: 'string', description: 'Where.' }, limit: { type: 'integer' } },
					required: ['path'],
				},
			}));
			const next = from + 1000;
			return { tools, ...(next < Number(file) ? { nextCursor: String(next) } : {}) };
		},
	},
	// Pages without end.
	endless: { 'tools/list': ({ cursor }) => ({ tools: list().tools, nextCursor: `${cursor ?? ''}x` }) },

	huge: {
		tools: {
			result: {
				annotations: reads,
				inputSchema: { type: 'object', properties: { bytes: { type: 'integer' } } },
				run: ({ bytes }) => 'x'.repeat(bytes),
			},
		},
	},

	names: {
		tools: Object.fromEntries(
			['../../etc', 'a.b/c d', 'x'.repeat(300), '', '名前', 'a\u0000b', '__proto__'].map((name) => [
				name,
				{ run: () => `ran ${JSON.stringify(name)}` },
			]),
		),
		'tools/list': () => {
			const { tools } = list();
			return { tools: [...tools, { ...tools.find((tool) => tool.name === 'echo'), description: 'The second echo.' }] };
		},
	},

	schemas: {
		tools: {
			loop: { inputSchema: { type: 'object', $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } } },
			tree: {
				inputSchema: {
					type: 'object',
					properties: { node: { $ref: '#/$defs/node' } },
					$defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
				},
			},
			choice: { inputSchema: { oneOf: [{ required: ['a'] }, { required: ['b'] }] } },
			typeless: { inputSchema: { properties: { a: {} } } },
			anything: { inputSchema: true },
			nothing: { inputSchema: null },
			text: { inputSchema: 'object' },
			none: { inputSchema: undefined },
			elsewhere: { inputSchema: { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:1/schema.json' } } } },
		},
	},

	// Answers nothing and ends.
	'dies-at-once': {
		start() {
			process.stderr.write('the key is not set\n');
			process.exit(3);
		},
	},
	// The same until there is a key in a file beside its own.
	'needs-key': {
		start() {
			if (existsSync(`${file}.key`)) return;
			process.stderr.write('KEY is not set\n');
			process.exit(3);
		},
	},
	'dies-at-list': { 'tools/list': () => process.exit(4) },
	'dies-at-call': {
		'tools/call'() {
			process.stderr.write('cannot go on\n');
			setTimeout(() => process.exit(5), 20);
			return never;
		},
	},

	// Another list at each call, announced before the call is answered.
	'changes-list': {
		'tools/list': () => ({ tools: [...list().tools, { name: `made_${calls}`, inputSchema: object }] }),
		async 'tools/call'(params, context) {
			calls++;
			notify('notifications/tools/list_changed');
			await sleep(20);
			return call(params, context);
		},
	},

	// Says that its list changed as fast as it can, and counts how often it is asked.
	floods: {
		start() {
			const flood = () => {
				for (let n = 0; n < 200; n++) notify('notifications/tools/list_changed');
				for (let n = 0; n < 20; n++) notify('notifications/message', { level: 'info', data: 'flood' });
				setTimeout(flood, 5);
			};
			flood();
		},
	},

	// The right answer, then another one; and answers to what nobody asked.
	'answers-wrong': {
		'tools/call'(params, context) {
			const reply = (id, text) => send({ id, result: { content: [{ type: 'text', text }] } });
			reply(987654, 'to nobody');
			reply('no-such-id', 'to nobody');
			reply(context.id, 'the first answer');
			reply(context.id, 'the second answer');
			return never;
		},
	},

	// Has children, and does not go when it is asked to. A minute is for ever here; after
	// that it goes, so that a failed test leaves nothing on the machine.
	stubborn: {
		start() {
			for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
			const child = spawn('sleep', ['60'], { stdio: 'ignore' });
			log(`child ${child.pid}`);
			setTimeout(() => process.exit(), 60_000);
		},
		stays: true,
	},
}[how];

if (!bad) throw new Error(`there is no ${how}`);
const tools = { ...good, ...bad.tools };
let [calls, lists] = [0, 0];

function list() {
	return {
		tools: Object.entries(tools).map(([name, { run, ...tool }]) => ({
			name,
			description: `What ${name.slice(0, 20)} does.`,
			inputSchema: object,
			...tool,
		})),
	};
}

async function call({ name, arguments: input = {} }, context) {
	const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
	if (!tool) return { content: [{ type: 'text', text: `there is no ${name}` }], isError: true };
	const run = tool.run ?? (() => `ran ${name}`);
	return { content: [{ type: 'text', text: await run(input, context) }] };
}

const methods = {
	initialize: () => ({
		protocolVersion: '2025-11-25',
		capabilities: { tools: { listChanged: true } },
		serverInfo: { name: `bad-${how}`, version: '1.0.0' },
	}),
	ping: () => ({}),
	'tools/list': list,
	'tools/call': call,
};

function send(message) {
	process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function notify(method, params) {
	send({ method, ...(params ? { params } : {}) });
}

function log(line) {
	if (file && how !== 'many') appendFileSync(file, `${line}\n`);
}

/** How often this program was started with this FILE, this time included. */
function lives() {
	return file ? readFileSync(file, 'utf8').split('\n').filter((line) => line.startsWith('start ')).length : 1;
}

function sleep(ms) {
	return new Promise((resolve) => setTimeout(resolve, ms));
}

async function answer({ id, method, params = {} }) {
	if (id === undefined || method === undefined) return log(method ?? 'answer');
	log(`${method}${params.name ? ` ${params.name}` : ''}`);
	const token = params._meta?.progressToken;
	const progress = (done, total) =>
		token !== undefined && notify('notifications/progress', { progressToken: token, progress: done, total });
	const run = bad[method] ?? methods[method];
	if (!run) return send({ id, error: { code: -32601, message: `no ${method} here` } });
	const result = await run(params, { id, progress });
	bad.every?.();
	send({ id, result });
}

log(`start ${process.pid}`);
bad.start?.();
createInterface({ input: process.stdin })
	.on('line', (line) => void answer(JSON.parse(line)))
	.on('close', () => bad.stays || process.exit(0));
