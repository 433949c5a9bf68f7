import type { ServerMessages } from './en';

const beginnings: Record<string, string> = {
  bad_request: '内容不符合要求',
  sealed: '无法读取已保存的密钥',
  too_late: '已经太晚',
  unreachable: '对方没有正常响应',
  unread: '读取不到它的说明文档',
  wants_key: '对方要求密钥',
};

export const serverZhHans: ServerMessages = {
  serverSays: {
    not_found: '找不到，可能已被删除。',
    busy: '这个对话还在回答，请等它结束或先停止。',
    crowded: '此刻登录的人太多，请过几秒再试。',
    not_waiting: '这次调用已不再等待答复。',
    closing: 'Tenon 正在关闭，不再接收新消息。',
    too_long: '内容太长。请改成文件，或分成几次。',
    too_many: '尝试次数过多，请稍后再试。',
    disk_full: '服务器磁盘已满，无法保存。请在服务器上腾出空间；已保存的内容仍可阅读。',
    disk_low: '服务器磁盘即将用完，暂时无法开始新的内容。请腾出空间，或请管理员处理。',
    too_slow: '内容没有及时传完，请换个更好的网络再试。',
    too_many_values: '内容里的数据项太多。请减少，或改用文档的地址。',
    too_many_sockets: '打开的页面太多，请关掉一些。',
    too_much_at_once: '你同时发送的内容太多，请过几秒再试。',
    overloaded: 'Tenon 此刻要接收的内容太多，请过几秒再试。',
    storage: 'Tenon 无法读写数据，原因见它的日志。',
    forbidden: '没有权限这样做。',
    not_logged_in: '尚未登录，请先登录。',
    no_account: '这需要账号，而这里还没有。请先创建：tenon user add。',
    set_up: '管理员账号已存在，请重新加载页面并登录。',
    set_up_first: '还没有任何账号。请重新加载页面，创建第一个账号。',
    wrong_host: '不能用这个地址打开 Tenon。',
    wrong_origin: '请求来自另一个网站，已被拒绝。',
    unwell: 'Tenon 目前无法工作，原因见它的日志。',
  },
  serverSentences: {
    'Tenon was restarted during this answer.': '回答过程中 Tenon 重新启动了。',
    'Tenon was restarted and could not go on with this answer.':
      'Tenon 重新启动后无法接着完成这个回答。',
    'The answer took too long and was cut off.': '回答时间过长，已中断。',
    'The answer grew too long and was cut off.': '回答过长，已中断。',
    'The answer broke off.': '回答中断了。',
    'The model could not be used.': '无法使用这个模型。',
    "The model's answer broke off.": '模型的回答中断了。',
    "The model's provider withheld the rest of this answer.": '模型提供方扣留了其余的回答。',
    "The server's disk is full, so this answer could not be stored. Free some space on it and ask again.":
      '服务器磁盘已满，无法保存这个回答。请腾出空间后再问一次。',
    'Tenon could not store this answer. Its log says why.':
      'Tenon 无法保存这个回答，原因见它的日志。',
    'Tenon made a mistake in this answer. Its log says which.':
      'Tenon 在这个回答中出错了，详情见它的日志。',
    'There is nothing to share yet. Say something in this chat first.':
      '还没有可分享的内容，请先在对话中说点什么。',
    'The message is empty; write something first.': '消息是空的，请先写点什么。',
  },
  serverDetail: (code, sentence) => `${beginnings[code] ?? '服务器说明'}：${sentence}`,
  storage: {
    low: '服务器磁盘即将用完：在腾出空间之前，无法开始新的内容。',
    full: '服务器磁盘已满：在腾出空间之前，什么都无法保存。已保存的内容仍可阅读。',
    failing: '服务器目前无法保存任何内容，原因见它的日志。',
  },
  notImportable: (detail) => `这个文件无法导入。${detail}`,
  silentTryAgain: 'Tenon 没有响应。请确认它正在运行，然后重试。',
};
