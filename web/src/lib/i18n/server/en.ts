// How the server is. What it says of errors is in `errors`.

export const serverEn = {
  /** What a newer server says, which the page has no words for. */
  serverDetail: (sentence: string) => sentence,
  /** Where nothing, or nothing new, can be stored. */
  storage: {
    low: "The server's disk is nearly full. Nothing new can be started until space is freed.",
    full: "The server's disk is full. Nothing can be stored until space is freed. Everything stored can still be read.",
    failing: 'The server cannot store anything at the moment. Its log says why.',
  },
  /** How several servers stand with each other. */
  cluster: {
    delayed:
      'The live view is delayed: answers that other servers give appear as soon as each step is stored.',
    noBus:
      'Several servers use this database without a bus, so live answers, forms and tools on people’s computers stay on the server where they started. Set `bus` on each of them.',
  },
  silentTryAgain: 'Tenon does not answer. Is it running? Try again.',
};

export type ServerMessages = typeof serverEn;
