import { expect, test } from 'vitest';
import { dataOf } from './sse';

function streamOf(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function read(chunks: Uint8Array[]): Promise<string[]> {
  const found = [];
  for await (const data of dataOf(streamOf(chunks))) found.push(data);
  return found;
}

const bytes = (text: string) => new TextEncoder().encode(text);

test('events are read, whatever ends their lines and whatever else is said', async () => {
  const check = async (text: string, expected: string[]) =>
    expect(await read([bytes(text)]), JSON.stringify(text)).toEqual(expected);
  await check('data: one\n\ndata: two\n\n', ['one', 'two']);
  await check('data:one\r\n\r\ndata: two\r\n\r\n', ['one', 'two']);
  await check(': still here\n\nevent: x\nid: 3\ndata: one\n\n', ['one']);
  await check('data: one\ndata: two\n\n', ['one\ntwo']);
  await check('data\n\n', ['']);
  await check('database: no\n\n', []);
  await check('data: cut off\n', []);
  await check('data: cut', []);
  await check('', []);
});

test('a stream may be cut at any byte', async () => {
  for (const end of ['\n', '\r\n']) {
    const whole = bytes(`data: {"text":"东京 🗼"}${end}${end}data: b${end}data: c${end}${end}`);
    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(await read([whole.slice(0, cut), whole.slice(cut)])).toEqual([
        '{"text":"东京 🗼"}',
        'b\nc',
      ]);
    }
    const single = Array.from(whole, (byte) => Uint8Array.of(byte));
    expect(await read(single)).toEqual(['{"text":"东京 🗼"}', 'b\nc']);
  }
});

test('a reader who has heard enough ends the stream', async () => {
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes('data: more\n\n')),
    cancel: () => void (cancelled = true),
  });
  for await (const data of dataOf(endless)) {
    expect(data).toBe('more');
    break;
  }
  expect(cancelled).toBe(true);
});

test('an event that is too long ends the stream', async () => {
  const read = async (text: string) => {
    const found = [];
    const chunks = text.match(/.{1,7}|\n/g) ?? [];
    for await (const data of dataOf(streamOf(chunks.map(bytes)), 20)) found.push(data);
    return found;
  };
  expect(await read('data: one\n\ndata: two\n\ndata: three\n\n')).toHaveLength(3);
  await expect(read('data: a line that does not end')).rejects.toThrow(RangeError);
  await expect(read('data: one\ndata: two\ndata: three\n\n')).rejects.toThrow(RangeError);
});
