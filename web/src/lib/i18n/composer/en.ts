// The words of the message field and of files, in English.

export const composerEn = {
  add: 'Add',
  attachFiles: 'Attach files…',
  takePhoto: 'Take a photo…',
  attachments: 'Attachments',
  removeFile: (name: string) => `Remove ${name}`,
  openImage: (name: string) => `Open ${name}`,
  downloadAttached: (name: string) => `Download ${name}`,
  uploading: (name: string) => `Uploading ${name}`,
  dropHere: 'Drop files to attach them',
  fileTooLarge: (max: string) => `Too large: a file may have at most ${max}.`,
  fileEmpty: 'The file is empty, or it is a folder.',
  fileUnread: 'The model cannot read this kind of file.',
  fileToSaveAs: (format: string) =>
    `The model cannot read this format. Save the file as .${format} and attach that.`,
  fileTruncated: (count: string) => `The model gets only the first ${count} characters.`,
  tooManyFiles: (max: number) => `A message may have at most ${max} files.`,
  removeFailed: 'Remove the files that could not be attached, then send.',
  modelSeesNoImages: (model: string) =>
    `${model} cannot see images. Choose another model, or remove the image.`,
  pastedLong: (count: string) => `You pasted ${count} characters.`,
  pastedAsFile: 'Attach as a file',
  pastedKeep: 'Keep as text',
  pastedName: 'pasted-text.txt',

  queueMessage: 'Queue message',
  queued: 'Queued',
  queuedHelp: 'Sent when this answer is complete.',
  queueHeld: 'The answer failed, so the queue is paused.',
  sendNow: 'Send now',
  editQueued: 'Edit queued message',
  removeQueued: 'Remove queued message',

  onlyTool: (tool: string) => `Only ${tool}`,
  removeTool: (tool: string) => `Do not limit this message to ${tool}`,

  folders: 'Folders',
  newFolder: 'New folder',
  notMoved: (why: string) => `Not moved: ${why}`,
  moveToFolder: 'Move to folder…',
  chatSettings: 'Chat settings…',
  exportChat: 'Export…',

  temporaryChat: 'Temporary chat',
  temporaryHelp:
    'Temporary chat: not listed and not searchable. Deleted when you leave it, or a day after the last message.',
  keepChat: 'Keep',
  temporaryDeleted: 'The temporary chat was deleted.',

  comparingWith: (model: string) => `Compare ${model} with`,
  compareWith: 'Compare with…',
  comparison: 'Comparing two models',

  contextAbout: (count: string) => `≈ ${count} tokens`,
  contextParts: (system: string, tools: string, history: string, draft: string) =>
    `Instructions ${system}, tools ${tools}, conversation ${history}, this message ${draft} tokens.`,
  contextNear: (limit: string) => `close to the ${limit} that this model can read`,
  contextOver: (limit: string) => `more than the ${limit} that this model can read`,
};
