import { expect, test } from 'vitest';
import { SHOWN_PAGE } from '$lib/api/types';
import { heightFromMessage, shownPages } from './htmlPage';
import { record } from './fixtures';

test('only what is marked to be shown is shown', () => {
  const blob = (mediaType: string) => ({ type: 'blob', blobId: 'b', mediaType, bytes: 1 }) as const;
  const text = { type: 'text', text: SHOWN_PAGE } as const;
  const content = [text, blob('text/html'), blob(SHOWN_PAGE), blob('image/png')];
  const call = record('call1', 'm1');
  expect(shownPages({ ...call, output: { content } })).toEqual([blob(SHOWN_PAGE)]);
  expect(shownPages({ ...call, output: undefined })).toEqual([]);
});

test.each([
  [{ type: 'iframe:height', height: 400 }, 400],
  [{ type: 'iframe:height', height: 400.2 }, 401],
  [{ type: 'iframe:height', height: -5 }, 160],
  [{ type: 'iframe:height', height: 1e300 }, 10_000],
  [{ type: 'iframe:height', height: Infinity }, 10_000],
  [{ type: 'iframe:height', height: NaN }, undefined],
  [{ type: 'iframe:height', height: '400' }, undefined],
  [{ type: 'iframe:height' }, undefined],
  [{ type: 'other', height: 400 }, undefined],
  ['iframe:height', undefined],
  [null, undefined],
  [undefined, undefined],
])('a page asks for its height in one way: %j', (message, expected) => {
  expect(heightFromMessage(message)).toBe(expected);
});
