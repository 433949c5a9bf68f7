// One answer at a time, read aloud by the browser.
import { language } from '$lib/i18n/language.svelte';
import { languageOf, speechPieces, spokenText, voiceFor } from './spokenText';

class ReadAloud {
  /** What is being read: whoever started it knows by this. */
  reading = $state.raw<string>();

  start(id: string, markdown: string): void {
    this.stop();
    const pieces = speechPieces(spokenText(markdown));
    if (pieces.length === 0) return;
    this.reading = id;
    const voices = speechSynthesis.getVoices();
    for (const [index, piece] of pieces.entries()) {
      const utterance = new SpeechSynthesisUtterance(piece);
      utterance.lang = languageOf(piece, language.code);
      utterance.voice = voiceFor(voices, utterance.lang) ?? null;
      utterance.onerror = () => this.#end(id);
      if (index === pieces.length - 1) utterance.onend = () => this.#end(id);
      speechSynthesis.speak(utterance);
    }
  }

  stop(): void {
    this.reading = undefined;
    speechSynthesis.cancel();
  }

  /** One that was stopped ends late, when another may be under way. */
  #end(id: string): void {
    if (this.reading === id) this.reading = undefined;
  }
}

export const readAloud = new ReadAloud();
