import type { composerEn } from './en';

export const composerZhHant: typeof composerEn = {
  add: '加入',
  attachFiles: '附加檔案…',
  takePhoto: '拍照…',
  attachments: '附件',
  removeFile: (name) => `移除 ${name}`,
  openImage: (name) => `開啟 ${name}`,
  downloadAttached: (name) => `下載 ${name}`,
  uploading: (name) => `正在上傳 ${name}`,
  dropHere: '放開即可附加檔案',
  fileTooLarge: (max) => `檔案過大：每個檔案最多 ${max}。`,
  fileEmpty: '檔案是空的，或者是一個資料夾。',
  fileUnread: '模型無法讀取這類檔案。',
  fileToSaveAs: (format) => `模型無法讀取這種格式。請將檔案另存為 .${format}，再重新附加。`,
  fileTruncated: (count) => `模型只會讀到前 ${count} 個字元。`,
  tooManyFiles: (max) => `一則訊息最多附 ${max} 個檔案。`,
  removeFailed: '請先移除無法附加的檔案，再傳送。',
  modelSeesNoImages: (model) => `${model} 看不了圖片。請換一個模型，或移除圖片。`,
  pastedLong: (count) => `你貼上了 ${count} 個字元。`,
  pastedAsFile: '改為附加檔案',
  pastedKeep: '保留為文字',
  pastedName: '貼上的文字.txt',

  queueMessage: '排隊傳送',
  queued: '排隊中',
  queuedHelp: '目前的回答完成後傳送。',
  queueHeld: '回答失敗，排隊的訊息暫不傳送。',
  sendNow: '立即傳送',
  editQueued: '編輯排隊的訊息',
  removeQueued: '移除排隊的訊息',

  onlyTool: (tool) => `僅用 ${tool}`,
  removeTool: (tool) => `不再限定只用 ${tool}`,

  folders: '資料夾',
  newFolder: '新增資料夾',
  notMoved: (why) => `未移動：${why}`,
  moveToFolder: '移到資料夾…',
  chatSettings: '對話設定…',
  exportChat: '匯出…',

  temporaryChat: '臨時對話',
  temporaryHelp: '臨時對話：不列入清單，也搜尋不到。離開後即刪除，最遲在最後一則訊息的一天之後。',
  keepChat: '保留',
  temporaryDeleted: '臨時對話已刪除。',

  comparingWith: (model) => `將 ${model} 與哪個模型比較`,
  compareWith: '與其他模型比較…',
  comparison: '比較兩個模型',

  contextAbout: (count) => `約 ${count} 個 token`,
  contextParts: (system, tools, history, draft) =>
    `指示 ${system}、工具 ${tools}、對話 ${history}、這則訊息 ${draft} 個 token。`,
  contextNear: (limit) => `接近此模型的上限 ${limit}`,
  contextOver: (limit) => `超過此模型的上限 ${limit}`,
};
