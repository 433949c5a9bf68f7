import type { composerEn } from './en';

export const composerZhHans: typeof composerEn = {
  add: '添加',
  attachFiles: '添加文件…',
  takePhoto: '拍照…',
  attachments: '附件',
  removeFile: (name) => `移除 ${name}`,
  openImage: (name) => `打开 ${name}`,
  downloadAttached: (name) => `下载 ${name}`,
  uploading: (name) => `正在上传 ${name}`,
  dropHere: '松开即可添加文件',
  fileTooLarge: (max) => `文件过大：每个文件最多 ${max}。`,
  fileEmpty: '文件是空的，或者是一个文件夹。',
  fileUnread: '模型无法读取这类文件。',
  fileToSaveAs: (format) => `模型无法读取这种格式。请把文件另存为 .${format}，再重新添加。`,
  fileTruncated: (count) => `模型只会读到前 ${count} 个字符。`,
  tooManyFiles: (max) => `一条消息最多带 ${max} 个文件。`,
  removeFailed: '请先移除无法添加的文件，然后发送。',
  modelSeesNoImages: (model) => `${model} 看不了图片。请换一个模型，或移除图片。`,
  pastedLong: (count) => `你粘贴了 ${count} 个字符。`,
  pastedAsFile: '作为文件添加',
  pastedKeep: '保留为文本',
  pastedName: '粘贴的文本.txt',

  queueMessage: '排队发送',
  queued: '排队中',
  queuedHelp: '当前回答完成后发送。',
  queueHeld: '回答失败，排队的消息暂不发送。',
  sendNow: '立即发送',
  editQueued: '编辑排队的消息',
  removeQueued: '移除排队的消息',

  onlyTool: (tool) => `仅用 ${tool}`,
  removeTool: (tool) => `不再限定只用 ${tool}`,

  folders: '文件夹',
  newFolder: '新建文件夹',
  notMoved: (why) => `未移动：${why}`,
  moveToFolder: '移到文件夹…',
  chatSettings: '对话设置…',
  exportChat: '导出…',

  temporaryChat: '临时对话',
  temporaryHelp: '临时对话：不进列表，也搜不到。离开后即删除，最迟在最后一条消息的一天之后。',
  keepChat: '保留',
  temporaryDeleted: '临时对话已删除。',

  comparingWith: (model) => `将 ${model} 与哪个模型比较`,
  compareWith: '与其他模型比较…',
  comparison: '比较两个模型',

  contextAbout: (count) => `约 ${count} 个 token`,
  contextParts: (system, tools, history, draft) =>
    `指示 ${system}、工具 ${tools}、对话 ${history}、本条消息 ${draft} 个 token。`,
  contextNear: (limit) => `接近此模型的上限 ${limit}`,
  contextOver: (limit) => `超过此模型的上限 ${limit}`,
};
