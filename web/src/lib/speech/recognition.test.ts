import { afterEach, expect, test, vi } from 'vitest';
import { canDictate, dictate, type DictationFault } from './recognition';

afterEach(() => vi.unstubAllGlobals());

/** What a browser would recognise with; the test says what it hears. */
function stub() {
  const made: FakeRecognizer[] = [];
  class FakeRecognizer {
    lang = '';
    onresult?: (event: object) => void;
    onerror?: (event: object) => void;
    onend?: () => void;
    constructor() {
      made.push(this);
    }
    start() {}
    stop() {
      this.onend?.();
    }
  }
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('webkitSpeechRecognition', FakeRecognizer);
  return made;
}

test('without recognition in the browser there is no dictation', () => {
  vi.stubGlobal('isSecureContext', true);
  expect(canDictate()).toBe(false);
  stub();
  expect(canDictate()).toBe(true);
});

test('all that was said so far is told, until it is stopped', () => {
  const made = stub();
  const heard: string[] = [];
  const ends: (DictationFault | undefined)[] = [];
  const stop = dictate('zh-CN', {
    heard: (text) => heard.push(text),
    ended: (fault) => ends.push(fault),
  });
  const [recognizer] = made;
  expect(recognizer?.lang).toBe('zh-CN');
  recognizer?.onresult?.({ results: [{ 0: { transcript: '东京' } }] });
  recognizer?.onresult?.({
    results: [{ 0: { transcript: '东京' } }, { 0: { transcript: '几点' } }],
  });
  stop();
  expect([heard, ends]).toEqual([['东京', '东京几点'], [undefined]]);
});

test('what keeps it from listening is told, and silence is not', () => {
  const check = (error: string, expected: DictationFault | undefined) => {
    const made = stub();
    let fault: DictationFault | undefined;
    dictate('en', { heard: () => {}, ended: (found) => (fault = found) });
    made[0]?.onerror?.({ error });
    made[0]?.onend?.();
    expect(fault).toBe(expected);
  };
  check('not-allowed', 'denied');
  check('audio-capture', 'noMicrophone');
  check('network', 'failed');
  check('no-speech', undefined);
  check('aborted', undefined);
});
