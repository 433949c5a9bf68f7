// Reading aloud and dictation, with a browser that says what it was told to say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';

const { visit } = fixture();
const deadline = { timeout: 60_000 };

function recordSpeech() {
  globalThis.spoken = [];
  globalThis.SpeechSynthesisUtterance = class {
    constructor(text) {
      this.text = text;
    }
  };
  Object.defineProperty(globalThis, 'speechSynthesis', {
    value: {
      getVoices: () => [
        { lang: 'en-GB', default: true, name: 'Kate' },
        { lang: 'zh-CN', default: false, name: 'Ting' },
      ],
      speak: (utterance) => globalThis.spoken.push(utterance),
      cancel: () => (globalThis.cancelled = true),
    },
  });
  delete globalThis.SpeechRecognition;
  globalThis.webkitSpeechRecognition = class {
    start() {
      globalThis.recognizer = this;
    }
    stop() {
      this.onend();
    }
  };
}

test('an answer is read aloud in the voice of its language, and stops', deadline, async (t) => {
  const { page, context, ui } = await visit(t);
  await context.addInitScript(recordSpeech);
  await page.reload();
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  await page.getByRole('button', { name: 'Read aloud' }).click();
  const stop = page.getByRole('button', { name: 'Stop reading' });
  await stop.waitFor();
  const [first] = await page.evaluate(() =>
    globalThis.spoken.map(({ text, lang, voice }) => ({ text, lang, voice: voice?.name })),
  );
  assert.match(first.text, /Tokyo/);
  assert.doesNotMatch(first.text, /[*`#]/);
  assert.equal(first.voice, 'Kate');
  await page.evaluate(() => globalThis.spoken.at(-1).onend());
  await stop.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Read aloud' }).click();
  await page.evaluate(() => (globalThis.cancelled = false));
  await stop.click();
  assert.equal(await page.evaluate(() => globalThis.cancelled), true);
  await stop.waitFor({ state: 'detached' });
});

test('what is spoken stands in the message, after what was typed', deadline, async (t) => {
  const { page, context, ui } = await visit(t);
  await context.addInitScript(recordSpeech);
  await page.reload();
  await ui.field.fill('Please');
  await page.getByRole('button', { name: 'Dictate' }).click();
  await page.getByText('Some browsers send the audio to their vendor').waitFor();
  await page.evaluate(() =>
    globalThis.recognizer.onresult({ results: [[{ transcript: 'tell me' }]] }),
  );
  assert.equal(await ui.field.inputValue(), 'Please tell me');
  await page.getByRole('button', { name: 'Stop dictating' }).click();
  await page.getByRole('button', { name: 'Dictate' }).waitFor();

  await page.getByRole('button', { name: 'Dictate' }).click();
  await page.evaluate(() => {
    globalThis.recognizer.onerror({ error: 'not-allowed' });
    globalThis.recognizer.onend();
  });
  await page.getByText('does not let Tenon use the microphone').waitFor();
});

test('a browser that recognises no speech offers no dictation', deadline, async (t) => {
  const { page, context, ui } = await visit(t);
  await context.addInitScript(() => {
    delete globalThis.webkitSpeechRecognition;
    delete globalThis.SpeechRecognition;
  });
  await page.reload();
  await ui.field.waitFor();
  assert.equal(await page.getByRole('button', { name: 'Dictate' }).count(), 0);
});
