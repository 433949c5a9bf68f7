// One answer at a time, read aloud by the browser.
import { language } from '$lib/i18n/language.svelte';
import { languageOf, speechPieces, spokenText, voiceFor } from './spokenText';

class ReadAloud {
  /** What is being read: whoever started it knows by this. */
  reading = $state.raw<string>();
  /** Counts what was started: one that was stopped ends late, when it may be read anew. */
  #started = 0;

  start(id: string, markdown: string): void {
    this.stop();
    const pieces = speechPieces(spokenText(markdown));
    if (pieces.length === 0) return;
    this.reading = id;
    const number = ++this.#started;
    const voices = speechSynthesis.getVoices();
    for (const [index, piece] of pieces.entries()) {
      const utterance = new SpeechSynthesisUtterance(piece);
      utterance.lang = languageOf(piece, language.code);
      utterance.voice = voiceFor(voices, utterance.lang) ?? null;
      utterance.onerror = () => this.#end(number);
      if (index === pieces.length - 1) utterance.onend = () => this.#end(number);
      speechSynthesis.speak(utterance);
    }
  }

  stop(): void {
    this.reading = undefined;
    speechSynthesis.cancel();
  }

  #end(number: number): void {
    if (number === this.#started) this.reading = undefined;
  }
}

export const readAloud = new ReadAloud();
