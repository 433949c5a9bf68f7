// The browser's speech recognition, where it has one. TypeScript has no types for it.

interface SpeechResult {
  isFinal: boolean;
  0: { transcript: string };
}

interface Recognizer extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  onresult: ((event: { results: ArrayLike<SpeechResult> }) => void) | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
  start(): void;
  stop(): void;
  abort(): void;
}

type RecognizerClass = new () => Recognizer;

export type DictationFault = 'denied' | 'noMicrophone' | 'failed';

interface DictationListener {
  /** All that was said so far, also what may still be corrected. */
  heard: (text: string) => void;
  ended: (fault?: DictationFault) => void;
}

function recognizerClass(): RecognizerClass | undefined {
  const { SpeechRecognition, webkitSpeechRecognition } = globalThis as {
    SpeechRecognition?: RecognizerClass;
    webkitSpeechRecognition?: RecognizerClass;
  };
  return SpeechRecognition ?? webkitSpeechRecognition;
}

export function canDictate(): boolean {
  return isSecureContext && recognizerClass() !== undefined;
}

/** Listens until it is told to stop. The result stops it. */
export function dictate(lang: string, { heard, ended }: DictationListener): () => void {
  const Recognizer = recognizerClass();
  if (!Recognizer) {
    ended('failed');
    return () => {};
  }
  const recognizer = new Recognizer();
  let fault: DictationFault | undefined;
  recognizer.lang = lang;
  recognizer.continuous = true;
  recognizer.interimResults = true;
  recognizer.onresult = ({ results }) =>
    heard(Array.from(results, (result) => result[0].transcript).join(''));
  recognizer.onerror = ({ error }) => (fault = faultOf(error));
  recognizer.onend = () => ended(fault);
  recognizer.start();
  return () => recognizer.stop();
}

/** Silence, and being told to stop, are no faults. */
function faultOf(error: string): DictationFault | undefined {
  if (error === 'no-speech' || error === 'aborted') return undefined;
  if (error === 'not-allowed' || error === 'service-not-allowed') return 'denied';
  return error === 'audio-capture' ? 'noMicrophone' : 'failed';
}
