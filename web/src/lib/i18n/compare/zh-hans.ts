import type { CompareMessages } from './en';

export const compareZhHans: CompareMessages = {
  title: '比较两个模型',
  help: '每条消息两个模型都会收到。除非保留其中一个，否则什么都不留下。',
  keep: '保留这个',
  keepOf: (model) => `保留与 ${model} 的对话`,
  notKept: (why) => `未保留：${why}`,
  notSent: (why) => `未发送：${why}`,
  empty: '写一条消息，看看两个模型各自如何回答。',
  gone: '此模型已不存在。',
};
