import type { CompareMessages } from './en';

export const compareZhHant: CompareMessages = {
  title: '比較兩個模型',
  help: '每則訊息兩個模型都會收到。除非保留其中一個，否則什麼都不留下。',
  keep: '保留這個',
  keepOf: (model) => `保留與 ${model} 的對話`,
  notKept: (why) => `未保留：${why}`,
  notSent: (why) => `未傳送：${why}`,
  empty: '寫一則訊息，看看兩個模型各自如何回答。',
  gone: '此模型已不存在。',
};
