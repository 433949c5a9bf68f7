import { expect, test } from 'vitest';
import { nameOfAddress, nameOfProgram, nameOfTitle } from './name';

test('a program is called after what it runs', () => {
  const check = (line: string, expected: string) => {
    const [command = '', ...args] = line.split(' ');
    expect(nameOfProgram(command, args)).toBe(expected);
  };
  check('npx -y @modelcontextprotocol/server-memory', 'memory');
  check('npx -y @modelcontextprotocol/server-filesystem@2025.8 /home/ann', 'filesystem');
  check('uvx mcp-server-time --local-timezone=Asia/Tokyo', 'time');
  check('/opt/peers/.bin/mcp-server-memory', 'memory');
  check('python -m weather_server', 'weather');
  check('node /srv/notes/dist/index.js', 'notes');
  check('docker run -i --rm ghcr.io/github/github-mcp-server', 'github');
  check('mcp-server-git.exe', 'git');
  check('', '');
});

test('an address is called after its host', () => {
  const check = (url: string, expected: string) => expect(nameOfAddress(url)).toBe(expected);
  check('https://mcp.linear.app/sse', 'linear');
  check('https://api.githubcopilot.com/mcp/', 'githubcopilot');
  check('http://localhost:3001/mcp', 'localhost');
  check('http://127.0.0.1:3001/mcp', 'server');
  check('https://mcp.notion.com', 'notion');
  check('no address', '');
});

test('a document is called after its title', () => {
  const check = (title: string, expected: string) => expect(nameOfTitle(title)).toBe(expected);
  check('Echo', 'echo');
  check('Swagger Petstore - OpenAPI 3.0', 'petstore');
  check('GitHub v3 REST API', 'github');
  check('天气', '');
});
