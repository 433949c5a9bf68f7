// What the server says, in the words of the page. The server speaks English, so
// in English its sentences stand as they are.

export const serverEn = {
  /** By its code, where the code says enough. */
  serverSays: {} as Record<string, string>,
  /** Sentences that it always says in these words. */
  serverSentences: {} as Record<string, string>,
  /** A sentence that the page has no words for, by the code it comes with. */
  serverDetail: (_code: string, sentence: string) => sentence,
  /** Where nothing, or nothing new, can be stored. */
  storage: {
    low: "The server's disk is nearly full. Nothing new can be started until space is freed.",
    full: "The server's disk is full. Nothing can be stored until space is freed. Everything stored can still be read.",
    failing: 'The server cannot store anything at the moment. Its log says why.',
  },
  notImportable: (detail: string) => `This file cannot be imported. ${detail}`,
  silentTryAgain: 'Tenon does not answer. Is it running? Try again.',
};

export type ServerMessages = typeof serverEn;
