// The hub as the official TypeScript client sees it: `hub.mjs NODE_MODULES URL KEY SERVER`. Prints what
// it saw as one JSON object.
import { pathToFileURL } from "node:url";

const [modules, base, key, server] = process.argv.slice(2);
const sdk = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/${path}`).href);
const { Client } = await sdk("client/index.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
const { ToolListChangedNotificationSchema } = await sdk("types.js");

const headers = { Authorization: `Bearer ${key}` };
const saw = {};

const client = new Client({ name: "hub", version: "1" }, { capabilities: {} });
const changed = [];
client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.forEach((hear) => hear()));
const url = new URL(`${base}/mcp`);
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
const names = async () => (await client.listTools()).tools.map((tool) => tool.name);
saw.tools = await names();

// To cancel ends the call behind at once.
const stop = new AbortController();
const long = { name: "mcp_everything_trigger-long-running-operation", arguments: { duration: 600, steps: 600 } };
const began = new Promise((resolve) => {
  client
    .callTool(long, undefined, { signal: stop.signal, onprogress: resolve, timeout: 60_000 })
    .catch((error) => (saw.cancelled = String(error)));
});
await began;
stop.abort("enough");
const echo = await client.callTool({ name: "mcp_everything_echo", arguments: { message: "still here" } });
saw.echoed = echo.content[0].text;
// Nobody here answers forms.
const form = await client.callTool({ name: "mcp_everything_trigger-elicitation-request", arguments: {} });
saw.declined = form.content[0].text;

const heard = new Promise((resolve) => changed.push(resolve));
const added = await fetch(`${base}/api/sources`, {
  method: "POST",
  headers: { ...headers, "Content-Type": "application/json" },
  body: JSON.stringify({ kind: "mcp", name: "ts", command: server }),
});
saw.added = added.status;
await heard;
while (!(await names()).includes("mcp_ts_get_current_time")) {
  await new Promise((resolve) => changed.push(resolve));
}
saw.after = await names();
await client.close();
console.log(JSON.stringify(saw));
