// Server-sent events out of bytes that may be cut anywhere: in a character, in a
// line, between the two halves of a line's end.

/** What each event of the stream carries. An event that the stream's end cuts off is not one, and one
    that is longer than `maxLength` an error. */
export async function* dataOf(
  stream: ReadableStream<Uint8Array>,
  maxLength = Infinity,
): AsyncGenerator<string> {
  const events = new Events(maxLength);
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* events.take(value);
    }
  } finally {
    // Whoever stops reading wants no more of it.
    await reader.cancel().catch(() => {});
  }
}

class Events {
  #decoder = new TextDecoder();
  #rest = '';
  #data: string[] = [];
  #length = 0;
  #maxLength: number;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  take(bytes: Uint8Array): string[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    if (this.#length + this.#rest.length > this.#maxLength) throw new RangeError('event too long');
    // A CR at the end may be the first half of a CR LF; only the next byte tells.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#takeLine(line));
  }

  #takeLine(line: string): string[] {
    const field = /^data(?:: ?(.*))?$/s.exec(line);
    if (field) {
      this.#data.push(field[1] ?? '');
      this.#length += line.length;
    }
    if (line !== '' || this.#data.length === 0) return [];
    const whole = this.#data.join('\n');
    this.#data = [];
    this.#length = 0;
    return [whole];
  }
}
