import { expect, test } from 'vitest';
import { diagramReply, pictureAddress } from './diagram';

test('what the frame says is judged before it is believed', () => {
  const check = (message: unknown, expected: unknown) =>
    expect(diagramReply(message), JSON.stringify(message)?.slice(0, 80)).toEqual(expected);
  const drawn = { type: 'diagram', id: 1, svg: '<svg/>', width: 10, height: 20 };
  check({ type: 'diagram', ready: true }, 'ready');
  check(drawn, { id: 1, result: { svg: '<svg/>', width: 10, height: 20 } });
  check(
    { ...drawn, svg: undefined, error: 'e'.repeat(2000) },
    { id: 1, result: { error: 'e'.repeat(600) } },
  );
  check({ ...drawn, svg: 'x'.repeat(4_000_001) }, { id: 1, result: { error: '' } });
  for (const wrong of [
    null,
    'diagram',
    { ...drawn, type: 'iframe:height' },
    { ...drawn, id: '1' },
    { ...drawn, svg: 5 },
    { ...drawn, width: Infinity },
    { ...drawn, height: -1 },
    { ...drawn, width: '1' },
  ]) {
    check(wrong, undefined);
  }
});

test('a picture has an address that ends with the picture', () => {
  expect(pictureAddress('<svg a="#b">é</svg>')).toBe(
    'data:image/svg+xml;charset=utf-8,%3Csvg%20a%3D%22%23b%22%3E%C3%A9%3C%2Fsvg%3E',
  );
});
