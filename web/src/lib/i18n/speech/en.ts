// What is said about reading aloud and dictation.

export const speechEn = {
  readAloud: 'Read aloud',
  stopReading: 'Stop reading',
  dictate: 'Dictate',
  stopDictating: 'Stop dictating',
  listening: 'Listening… Some browsers send the audio to their vendor to recognise it.',
  denied:
    'The browser does not let Tenon use the microphone. Allow it in the browser’s site settings.',
  noMicrophone: 'No microphone was found.',
  failed: 'The browser could not recognise speech. Try again.',
};

export type SpeechMessages = typeof speechEn;
