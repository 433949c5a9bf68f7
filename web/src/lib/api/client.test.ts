import { afterEach, expect, test, vi } from 'vitest';
import { api, ApiError } from './client';

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
});

test('an answer without a body is nothing', async () => {
  answer(new Response(null, { status: 204 }));
  expect(await api.cancelTurn('t1')).toBeUndefined();
});

test('a refusal is told in the words of the server', async () => {
  answer(Response.json({ error: { code: 'busy', message: 'A turn runs.' } }, { status: 409 }));
  await expect(api.chats()).rejects.toEqual(new ApiError('busy', 'A turn runs.', 409));
});

test('a server that is not there, or a proxy that cannot reach it, is unreachable', async () => {
  answer(new TypeError('Failed to fetch'));
  await expect(api.chats()).rejects.toMatchObject({ unreachable: true });
  answer(new Response('Bad Gateway', { status: 502 }));
  await expect(api.chats()).rejects.toMatchObject({ unreachable: true });
});
