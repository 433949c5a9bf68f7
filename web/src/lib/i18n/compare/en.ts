// What is said where two models are compared. Loaded on demand.

export const compareEn = {
  title: 'Compare two models',
  help: 'Both get every message. Nothing is kept unless you keep one of them.',
  keep: 'Keep this one',
  keepOf: (model: string) => `Keep the chat with ${model}`,
  notKept: (why: string) => `Not kept: ${why}`,
  notSent: (why: string) => `Not sent: ${why}`,
  empty: 'Write a message to see how each of them answers.',
  gone: 'This model no longer exists.',
};

export type CompareMessages = typeof compareEn;
