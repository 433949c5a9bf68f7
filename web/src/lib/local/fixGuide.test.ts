import { expect, test } from 'vitest';
import type { Diagnosis } from './diagnose';
import { fixGuideFor, startGuide, type ServerToolkit } from './fixGuide';

const origin = 'https://tenon.example';
const url = 'http://localhost:8123';
const code = (kind: Diagnosis['kind'], maker: ServerToolkit, at = url) =>
  fixGuideFor({ kind }, { origin, url: at })?.lines.find((line) => line.maker === maker)?.code;

test('an mcpo is started with this origin and this port', () => {
  const expected =
    'uvx --with mcp==1.26.0 --with fastapi==0.128.0 mcpo --host 127.0.0.1 --port 8123 --cors-allow-origins "https://tenon.example" -- uvx mcp-server-time';
  expect(code('notRunning', 'mcpo')).toBe(expected);
  expect(code('notRunningOrNotHttp', 'mcpo')).toBe(expected);
  expect(startGuide({ origin, url }).lines[0]?.code).toBe(expected);
});

test('whatever lets a page in names its origin', () => {
  const check = (kind: Diagnosis['kind'], maker: ServerToolkit, ...expected: string[]) => {
    for (const piece of expected) expect(code(kind, maker)).toContain(piece);
  };
  for (const kind of ['cors', 'preflightHeader', 'preflightRefused'] as const) {
    check(kind, 'mcpo', '--cors-allow-origins "https://tenon.example"');
    check(kind, 'fastmcp', 'allow_origins=["https://tenon.example"]', 'port=8123');
    check(kind, 'fastmcp', 'allow_headers=["*"]', 'expose_headers=["mcp-session-id"]');
    check(kind, 'express', "cors({ origin: 'https://tenon.example'");
    check(kind, 'other', 'Access-Control-Allow-Origin: https://tenon.example\n');
  }
  check('notRunning', 'fastmcp', 'allow_origins=["https://tenon.example"]', 'port=8123');
  check('notRunning', 'express', "origin: 'https://tenon.example'", "listen(8123, '127.0.0.1')");
  check('tlsNotTrusted', 'fastmcp', 'port=8123', 'ssl_certfile');
  check('tlsOrNotRunning', 'express', "listen(8123, '127.0.0.1')");
});

test('a port is the one of the address, or another where no browser goes', () => {
  const check = (kind: Diagnosis['kind'], at: string, expected: string) =>
    expect(code(kind, 'mcpo', at)).toContain(`--port ${expected} `);
  check('notRunning', 'http://localhost', '80');
  check('notRunning', 'https://localhost', '443');
  check('notRunning', 'http://localhost:8123/tools/', '8123');
  check('blockedPort', 'http://localhost:6000', '8000');
});

test('one that answers elsewhere is looked for where such servers are', () => {
  for (const kind of ['wrongPath', 'notToolServer', 'badHandshake'] as const) {
    expect(fixGuideFor({ kind }, { origin, url: `${url}/docs` })).toEqual({
      topic: 'where',
      lines: [
        { maker: 'mcpo', code: 'http://localhost:8123' },
        { maker: 'fastmcp', code: 'http://localhost:8123/mcp' },
        { maker: 'express', code: 'http://localhost:8123/openapi.json' },
      ],
    });
  }
});

test('where nothing is to be typed, nothing is said to be', () => {
  const kinds = ['permissionDenied', 'useHttp', 'tooSlow', 'cut', 'badSpec', 'hub'] as const;
  for (const kind of kinds) expect(fixGuideFor({ kind }, { origin, url })).toBeUndefined();
});
