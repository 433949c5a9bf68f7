// What the settings say about this browser and this person's data: appearance, notifications,
// permissions of tools, and chats as files. Loaded on demand.

export const preferencesEn = {
  appearanceHelp: 'Kept in this browser.',
  textSize: 'Text size',
  textSizes: { small: 'Small', normal: 'Normal', large: 'Large' },
  sample: 'The quick brown fox jumps over the lazy dog. 敏捷的棕狐跳过懒狗。',

  notifications: 'Notifications',
  notificationsHelp:
    'Tells you when an answer is ready or a tool waits for you, while Tenon is in the background. Kept in this browser.',
  notify: 'Notify me in this browser',
  notifyBlocked:
    'This browser does not let Tenon notify you. Allow notifications for this address in the browser’s site settings, then switch it on here.',
  notifyMissing:
    'This browser does not support notifications, or this page was not opened over HTTPS.',
  tryNotification: 'Send a test notification',
  testBody: 'Notifications work.',

  policies: 'Permissions of tools',
  policiesHelp:
    'Whether a model may use a tool at once, after asking you, or never. It applies to all your chats.',
  policiesSet: 'Set by you or by your organisation',
  policiesNone: 'Nothing is set: every tool uses its default.',
  policiesFilter: 'Find a tool',
  policiesMore: (count: number) => `${count} more. Type to find one.`,
  policyBy: {
    user: 'set by you',
    chat: 'set for this chat',
    expert: 'set by the expert',
    organisation: 'set for everybody',
  },
  policyByNobody: 'default',

  chats: 'Chats as files',
  chatsHelp: 'One file with all your chats, including archived ones.',
  exportAll: 'Export all chats',
  exportFilesHint: 'If off, the file contains your chats without the files in your messages.',
  exporting: (done: number, count: number) => `Exporting, ${done} of ${count}…`,
  exported: (count: number) =>
    count === 1 ? 'One chat was exported.' : `${count} chats were exported.`,
  exportedWithoutFiles: (title: string) =>
    `“${title}” was exported without its files: they are too large for one file. Download them in the chat.`,
  importChats: 'Import chats…',
  importHint: 'A file made with “Export all chats” or “Export as JSON”.',
  importing: (done: number, count: number) => `Importing, ${done} of ${count}…`,
  imported: (count: number) =>
    count === 1 ? 'One chat was imported.' : `${count} chats were imported.`,
  notImported: (title: string, why: string) => `“${title}” was not imported: ${why}`,
  noExport: (file: string) => `“${file}” is not a file that Tenon exported.`,
  noChats: 'You have no chats.',
  stop: 'Stop',
  stopped: (done: number, count: number) => `Stopped after ${done} of ${count}.`,

  deleteTitle: 'Delete all chats',
  deleteHelp: 'All your chats, including archived ones, with their files. This cannot be undone.',
  deleteAll: 'Delete all chats…',
  deleteAsk: (count: number) =>
    `Delete ${count === 1 ? 'your chat' : `all ${count} chats`} for good? Export them first if you may need them.`,
  deleteYes: 'Delete all',
  deleting: (done: number, count: number) => `Deleting, ${done} of ${count}…`,
  deletedAll: (count: number) =>
    count === 1 ? 'One chat was deleted.' : `${count} chats were deleted.`,
};

export type PreferencesMessages = typeof preferencesEn;
