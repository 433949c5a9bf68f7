import type { PreferencesMessages } from './en';

export const preferencesZhHant: PreferencesMessages = {
  appearanceHelp: '儲存在這個瀏覽器裡。',
  textSize: '文字大小',
  textSizes: { small: '小', normal: '標準', large: '大' },
  sample: '敏捷的棕狐跳過懶狗。The quick brown fox jumps over the lazy dog.',

  notifications: '通知',
  notificationsHelp: 'Tenon 在背景時，如果回答完成或有工具在等你，就通知你。儲存在這個瀏覽器裡。',
  notify: '在這個瀏覽器裡通知我',
  notifyBlocked:
    '這個瀏覽器不允許 Tenon 傳送通知。請在瀏覽器的網站設定裡允許此網址的通知，再在這裡開啟。',
  notifyMissing: '這個瀏覽器沒有通知功能，或者此頁面不是透過 HTTPS 開啟的。',
  tryNotification: '傳送測試通知',
  testBody: '通知可以使用。',

  policies: '工具的權限',
  policiesHelp: '模型可以直接使用、先詢問你，還是不得使用某個工具。對你的所有對話生效。',
  policiesSet: '由你或你的組織設定',
  policiesNone: '沒有任何設定：每個工具都照它的慣例執行。',
  policiesFilter: '尋找工具',
  policiesMore: (count) => `還有 ${count} 個。輸入文字來尋找。`,
  policyBy: {
    user: '由你設定',
    chat: '僅此對話',
    expert: '由專家設定',
    organisation: '對所有人設定',
  },
  policyByNobody: '預設',

  chats: '對話檔案',
  chatsHelp: '一個檔案，包含你的所有對話，也包括已封存的。',
  exportAll: '匯出所有對話',
  exportFilesHint: '不勾選時，檔案只包含對話，不包含訊息中的檔案。',
  exporting: (done, count) => `正在匯出，${done}／${count}…`,
  exported: (count) => `已匯出 ${count} 個對話。`,
  exportedWithoutFiles: (title) =>
    `「${title}」匯出時沒有帶上其中的檔案：它們太大，放不進一個檔案。請在對話中逐一下載。`,
  importChats: '匯入對話…',
  importHint: '用「匯出所有對話」或「匯出為 JSON」得到的檔案。',
  importing: (done, count) => `正在匯入，${done}／${count}…`,
  imported: (count) => `已匯入 ${count} 個對話。`,
  notImported: (title, why) => `「${title}」沒有匯入：${why}`,
  noExport: (file) => `「${file}」不是 Tenon 匯出的檔案。`,
  noChats: '你沒有對話。',
  stop: '停止',
  stopped: (done, count) => `已停止，完成 ${done}／${count}。`,

  deleteTitle: '刪除所有對話',
  deleteHelp: '你的所有對話和已封存的對話，連同其中的檔案。無法復原。',
  deleteAll: '刪除所有對話…',
  deleteAsk: (count) => `永久刪除全部 ${count} 個對話？如果以後可能用到，請先匯出。`,
  deleteYes: '全部刪除',
  deleting: (done, count) => `正在刪除，${done}／${count}…`,
  deletedAll: (count) => `已刪除 ${count} 個對話。`,
};
