import { afterEach, describe, expect, test, vi } from 'vitest';
import { api, ApiError, onUnauthorized } from './client';

function answer(response: Response | Error) {
  const fetch = vi.fn(() =>
    response instanceof Error ? Promise.reject(response) : Promise.resolve(response),
  );
  vi.stubGlobal('fetch', fetch);
  return fetch;
}

afterEach(() => vi.unstubAllGlobals());

test('a good answer is its JSON', async () => {
  const fetch = answer(Response.json({ turnId: 't1' }, { status: 202 }));
  expect(await api.startTurn('a/b', { text: 'Hi' })).toEqual({ turnId: 't1' });
  expect(fetch).toHaveBeenCalledWith(
    '/api/chats/a%2Fb/turns',
    expect.objectContaining({ method: 'POST', body: '{"text":"Hi"}' }),
  );
  const headers = { traceparent: expect.stringMatching(/^00-/) };
  expect(fetch).toHaveBeenCalledWith(
    expect.anything(),
    expect.objectContaining({ headers: expect.objectContaining(headers) }),
  );
});

test('a list of tools that has not changed is the same object', async () => {
  const tools = [{ toolId: 't' }];
  const fetch = answer(Response.json(tools, { headers: { etag: '"1"' } }));
  const first = await api.tools('chat');
  expect(first).toEqual(tools);
  fetch.mockResolvedValue(new Response(null, { status: 304 }));
  expect(await api.tools('chat')).toBe(first);
  const headers = { 'if-none-match': '"1"' };
  expect(fetch).toHaveBeenLastCalledWith(
    '/api/tools?chatId=chat&schemas=false',
    expect.objectContaining({ headers }),
  );
  fetch.mockResolvedValue(Response.json([], { headers: { etag: '"2"' } }));
  expect(await api.tools('chat')).toEqual([]);
  // Of another chat nothing is known yet.
  fetch.mockResolvedValue(Response.json(tools));
  await api.tools();
  expect(fetch).toHaveBeenLastCalledWith(
    '/api/tools?schemas=false',
    expect.objectContaining({ headers: {} }),
  );
});

test('an answer without a body is nothing', async () => {
  answer(new Response(null, { status: 204 }));
  expect(await api.cancelTurn('t1')).toBeUndefined();
});

test('a refusal is told in the words of the server', async () => {
  answer(Response.json({ error: { code: 'busy', message: 'A turn runs.' } }, { status: 409 }));
  await expect(api.info()).rejects.toEqual(new ApiError('busy', 'A turn runs.', 409));
});

test('a stranger is refused, and whoever looks after that hears of it', async () => {
  const listener = vi.fn();
  onUnauthorized(listener);
  answer(Response.json({ error: { code: 'unauthorized', message: 'Log in.' } }, { status: 401 }));
  await expect(api.info()).rejects.toMatchObject({ status: 401 });
  expect(listener).toHaveBeenCalledOnce();
  answer(Response.json({ error: { code: 'forbidden', message: 'No.' } }, { status: 403 }));
  await expect(api.info()).rejects.toMatchObject({ status: 403 });
  expect(listener).toHaveBeenCalledOnce();
});

test('a refusal says how long to wait where the server does', async () => {
  const error = { code: 'too_many_requests', message: 'Wait.' };
  answer(Response.json({ error }, { status: 429, headers: { 'retry-after': '30' } }));
  await expect(api.info()).rejects.toMatchObject({ retryAfterMs: 30_000 });
  answer(Response.json({ error }, { status: 429 }));
  await expect(api.info()).rejects.toMatchObject({ retryAfterMs: undefined });
});

test('a server that is not there, or a proxy that cannot reach it, is unreachable', async () => {
  answer(new TypeError('Failed to fetch'));
  await expect(api.info()).rejects.toMatchObject({ unreachable: true });
  answer(new Response('Bad Gateway', { status: 502 }));
  await expect(api.info()).rejects.toMatchObject({ unreachable: true });
});

test('a server that could not reach another one has answered', async () => {
  const error = { code: 'unreachable', message: 'Nothing answers at http://nowhere.' };
  answer(Response.json({ error }, { status: 502 }));
  await expect(api.discover({ baseUrl: 'http://nowhere' })).rejects.toMatchObject({
    unreachable: false,
    message: 'Nothing answers at http://nowhere.',
  });
});

describe('the test of a model', () => {
  const read = async () => {
    const frames = [];
    for await (const frame of api.testModel('a/b', new AbortController().signal)) {
      frames.push(frame);
    }
    return frames;
  };

  test('is told frame by frame', async () => {
    const fetch = answer(
      new Response('data: {"type":"text","text":"Hi"}\n\n: wait\n\ndata: broken\n\n'),
    );
    expect(await read()).toEqual([{ type: 'text', text: 'Hi' }]);
    expect(fetch).toHaveBeenCalledWith(
      '/api/models/a%2Fb/test',
      expect.objectContaining({ method: 'POST' }),
    );
  });

  test('is refused in the words of the server', async () => {
    answer(Response.json({ error: { code: 'not_found', message: 'Gone.' } }, { status: 404 }));
    await expect(read()).rejects.toEqual(new ApiError('not_found', 'Gone.', 404));
  });

  test('that is cut off is unreachable', async () => {
    answer(new TypeError('network error'));
    await expect(read()).rejects.toMatchObject({ unreachable: true });
  });
});
