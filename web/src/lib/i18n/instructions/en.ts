// What is said where instructions and parameters are set. Loaded on demand.

export const instructionsEn = {
  ownTitle: 'Instructions for every chat',
  ownHelp:
    'What every model should know about you and how it should answer, in all your chats. Models get it with each message.',
  own: 'Your instructions',
  ownHint: 'For example: “I am a nurse in Taipei. Answer briefly, in Traditional Chinese.”',
  saved: 'Saved.',
  left: (count: string) => `${count} characters left`,
  tooLong: (max: string) => `At most ${max} characters. Shorten the text.`,

  chatTitle: 'Chat settings',
  chat: 'Instructions for this chat',
  chatHint: 'Models get them with each message of this chat.',
  parameters: 'Parameters',
  parametersOf: (model: string) => `If left empty, the value of the expert or of ${model} is used.`,
  noParameters: 'The built-in assistant has no parameters.',
  temperature: 'Temperature',
  temperatureHint: '0 to 2: low is exact, high is varied.',
  topP: 'Top P',
  topPHint: '0 to 1: how unlikely the words may be. Change this or the temperature, not both.',
  maxTokens: 'Maximum tokens per answer',
  maxTokensHint: 'A longer answer is cut off there.',
  effort: 'Effort',
  effortHint: 'How long a reasoning model may think.',
  efforts: { '': 'The model’s default', low: 'Low', medium: 'Medium', high: 'High' },
  wrongNumber: {
    temperature: 'A number from 0 to 2, or empty.',
    topP: 'A number from 0 to 1, or empty.',
    maxTokens: 'A whole number above 0, or empty.',
  },
  inherited: (value: string) => `${value} (from the expert)`,

  order: 'Instructions the model gets, in this order',
  orderHelp: 'If two of them disagree, the later one applies.',
  fromExpert: (title: string) => `The expert ${title}`,
  fromYou: 'You',
  fromFolder: (name: string) => `The folder ${name}`,
  fromChat: 'This chat',
  nothing: 'nothing',
  change: 'Change',
  changeOf: (what: string) => `Change: ${what}`,
};

export type InstructionsMessages = typeof instructionsEn;
