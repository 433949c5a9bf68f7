import type { ServerMessages } from './en';

export const serverZhHans: ServerMessages = {
  serverDetail: (sentence) => `服务器说明：${sentence}`,
  storage: {
    low: '服务器磁盘即将用完：在腾出空间之前，无法开始新的内容。',
    full: '服务器磁盘已满：在腾出空间之前，什么都无法保存。已保存的内容仍可阅读。',
    failing: '服务器目前无法保存任何内容，原因见它的日志。',
  },
  cluster: {
    delayed: '实时显示有延迟：其他服务器给出的回答会在每一步保存后显示。',
    noBus:
      '多台服务器使用同一数据库，但没有设置总线：实时回答、表单和个人电脑上的工具只在最初的服务器上可用。请在每台服务器上设置 `bus`。',
  },
  silentTryAgain: 'Tenon 没有响应。请确认它正在运行，然后重试。',
};
