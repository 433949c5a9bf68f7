import type { AnswersMessages } from './en';

export const answersZhHans: AnswersMessages = {
  wrapLines: '长行自动换行',
};
