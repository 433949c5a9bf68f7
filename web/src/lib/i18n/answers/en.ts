// The words in and around rich answers, loaded with what draws them.
export const answersEn = {
  wrapLines: 'Wrap long lines',
};

export type AnswersMessages = typeof answersEn;
