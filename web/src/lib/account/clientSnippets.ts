// Configuration of other programs that use Tenon with an API key: the examples of docs/clients.md.

export const clients = {
  claudeDesktop: 'Claude Desktop',
  cursor: 'Cursor',
  vsCode: 'VS Code',
  openWebUi: 'Open WebUI',
  openAiSdk: 'OpenAI SDK (Python)',
  curl: 'curl',
};

export type ClientName = keyof typeof clients;

/** For the Tenon at this origin, with this key. */
export function clientSnippet(client: ClientName, origin: string, key: string): string {
  return snippets[client](origin, key);
}

const snippets: Record<ClientName, (origin: string, key: string) => string> = {
  claudeDesktop: (origin, key) => `{
  "mcpServers": {
    "tenon": {
      "command": "tenon",
      "args": ["mcp", "--connect", "${origin}"],
      "env": { "TENON_KEY": "${key}" }
    }
  }
}`,
  cursor: (origin, key) => `{
  "mcpServers": {
    "tenon": {
      "url": "${origin}/mcp",
      "headers": { "Authorization": "Bearer ${key}" }
    }
  }
}`,
  vsCode: (origin, key) => `{
  "servers": {
    "tenon": {
      "type": "http",
      "url": "${origin}/mcp",
      "headers": { "Authorization": "Bearer ${key}" }
    }
  }
}`,
  openWebUi: (origin) => `${origin}/mcp`,
  openAiSdk: (origin, key) => `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model=client.models.list().data[0].id,
    messages=[{"role": "user", "content": "What is 6*7?"}],
)
print(answer.choices[0].message.content)`,
  curl: (origin, key) => `curl -s ${origin}/api/tools/builtin_calculate/call \\
  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
  -d '{"arguments": {"expression": "6*7"}}'`,
};
