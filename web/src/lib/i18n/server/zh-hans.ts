import type { ServerMessages } from './en';

export const serverZhHans: ServerMessages = {
  serverDetail: (sentence) => `服务器说明：${sentence}`,
  storage: {
    low: '服务器磁盘即将用完：在腾出空间之前，无法开始新的内容。',
    full: '服务器磁盘已满：在腾出空间之前，什么都无法保存。已保存的内容仍可阅读。',
    failing: '服务器目前无法保存任何内容，原因见它的日志。',
  },
  silentTryAgain: 'Tenon 没有响应。请确认它正在运行，然后重试。',
};
