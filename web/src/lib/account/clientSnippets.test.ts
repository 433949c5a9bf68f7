import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type ClientName, clientSnippet, clients } from './clientSnippets';

// A test of the server runs the examples of that document.
const document = readFileSync('../docs/clients.md', 'utf8');
const origin = 'http://127.0.0.1:8366';
const snippet = (client: ClientName) => clientSnippet(client, origin, 'tn_YOUR_KEY');

test.each([
  ['claudeDesktop', 'json claude_desktop_config.json remote'],
  ['cursor', 'json mcp.json cursor'],
  ['vsCode', 'json mcp.json vscode'],
  ['openAiSdk', 'python openai'],
  ['curl', 'sh curl'],
] as const)('the snippet for %s is the documented example', (client, title) => {
  expect(document).toContain(`\`\`\`${title}\n${snippet(client)}\n\`\`\``);
});

test('the address for Open WebUI is the documented one', () => {
  expect(document).toContain(`URL \`${snippet('openWebUi')}\``);
});

test('each program has a snippet', () => {
  for (const client of Object.keys(clients) as ClientName[]) {
    expect(snippet(client)).toContain(origin);
  }
});
