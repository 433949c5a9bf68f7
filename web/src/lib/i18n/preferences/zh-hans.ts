import type { PreferencesMessages } from './en';

export const preferencesZhHans: PreferencesMessages = {
  appearanceHelp: '保存在这个浏览器里。',
  textSize: '文字大小',
  textSizes: { small: '小', normal: '标准', large: '大' },
  sample: '敏捷的棕狐跳过懒狗。The quick brown fox jumps over the lazy dog.',

  notifications: '通知',
  notificationsHelp: 'Tenon 在后台时，如果回答完成或有工具在等你，就通知你。保存在这个浏览器里。',
  notify: '在这个浏览器里通知我',
  notifyBlocked:
    '这个浏览器不允许 Tenon 发通知。请在浏览器的网站设置里允许此地址的通知，再在这里打开。',
  notifyMissing: '这个浏览器没有通知功能，或者此页面不是通过 HTTPS 打开的。',
  tryNotification: '发送测试通知',
  testBody: '通知可以使用。',

  policies: '工具的权限',
  policiesHelp: '模型可以直接使用、先询问你，还是不得使用某个工具。对你的所有对话生效。',
  policiesSet: '由你或你的组织设定',
  policiesNone: '没有任何设定：每个工具都按它的惯例运行。',
  policiesFilter: '查找工具',
  policiesMore: (count) => `还有 ${count} 个。输入文字来查找。`,
  policyBy: {
    user: '由你设定',
    chat: '仅此对话',
    expert: '由专家设定',
    organisation: '对所有人设定',
  },
  policyByNobody: '默认',

  chats: '对话文件',
  chatsHelp: '一个文件，包含你的所有对话，也包括已归档的。',
  exportAll: '导出所有对话',
  exportFilesHint: '不勾选时，文件只包含对话，不包含消息中的文件。',
  exporting: (done, count) => `正在导出，${done}／${count}…`,
  exported: (count) => `已导出 ${count} 个对话。`,
  exportedWithoutFiles: (title) =>
    `“${title}”导出时没有带上其中的文件：它们太大，放不进一个文件。请在对话中逐个下载。`,
  importChats: '导入对话…',
  importHint: '用“导出所有对话”或“导出为 JSON”得到的文件。',
  importing: (done, count) => `正在导入，${done}／${count}…`,
  imported: (count) => `已导入 ${count} 个对话。`,
  notImported: (title, why) => `“${title}”没有导入：${why}`,
  noExport: (file) => `“${file}”不是 Tenon 导出的文件。`,
  noChats: '你没有对话。',
  stop: '停止',
  stopped: (done, count) => `已停止，完成 ${done}／${count}。`,

  deleteTitle: '删除所有对话',
  deleteHelp: '你的所有对话和已归档的对话，连同其中的文件。无法撤销。',
  deleteAll: '删除所有对话…',
  deleteAsk: (count) => `永久删除全部 ${count} 个对话？如果以后可能用到，请先导出。`,
  deleteYes: '全部删除',
  deleting: (done, count) => `正在删除，${done}／${count}…`,
  deletedAll: (count) => `已删除 ${count} 个对话。`,
};
