import { expect, test } from 'vitest';
import type { ServerWithTools } from './discover';
import { ServerNews } from './serverNews';

const server = (port: number, title = `server ${port}`): ServerWithTools => ({
  url: `http://localhost:${port}/mcp`,
  name: '',
  title,
  via: 'mcp',
  hash: 'h',
  offered: { type: 'mcp', tools: [] },
});

test('what is there at first is no news, and what comes or goes later is', () => {
  const news = new ServerNews();
  expect(news.update([server(1)], { tell: true })).toEqual({ come: [], gone: [] });
  expect(news.update([server(1)], { tell: true })).toEqual({ come: [], gone: [] });
  expect(news.update([server(2)], { tell: true })).toEqual({
    come: ['server 2'],
    gone: ['server 1'],
  });
});

test('what a person did is no news to them', () => {
  const news = new ServerNews();
  news.update([], { tell: true });
  expect(news.update([server(1)], { tell: false })).toEqual({ come: [], gone: [] });
  expect(news.update([server(1)], { tell: true })).toEqual({ come: [], gone: [] });
});

test('one without a name is called by its address', () => {
  const news = new ServerNews();
  news.update([], { tell: true });
  expect(news.update([server(1, '')], { tell: true }).come).toEqual(['localhost:1']);
});
