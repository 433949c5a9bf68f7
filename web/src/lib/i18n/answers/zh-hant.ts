import type { AnswersMessages } from './en';

export const answersZhHant: AnswersMessages = {
  wrapLines: '長行自動換行',
};
