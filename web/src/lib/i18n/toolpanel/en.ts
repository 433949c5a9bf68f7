// What the panel of tools says of sources, of one tool, and of what a model gets. Loaded on demand.

export const toolPanelEn = {
  policyOfSource: (source: string, policy: string) => `All tools of ${source}: ${policy}`,
  mixedPolicy: 'varies',
  toolsOf: (shown: number, all: number) => `${shown} of ${all} tools`,
  tokens: (count: string) => `about ${count} tokens`,
  tokensHint: 'What its tools take of the model’s context with every message.',
  tokensOn: (count: string) => `about ${count} tokens per message`,

  sameServer: (other: string) => `The same server as ${other}`,
  sameServerKept: (address: string, other: string) =>
    `${address} is the same server as ${other}, which is in the list already.`,
  lastSeenTools: (count: number) =>
    count === 1 ? '1 tool when last seen' : `${count} tools when last seen`,
  come: (names: string, count: number) =>
    count === 1
      ? `${names} is running on this computer. Its tools can be used.`
      : `${names} are running on this computer. Their tools can be used.`,
  gone: (names: string, count: number) =>
    count === 1
      ? `${names} stopped on this computer. Its tools cannot be used until it is back.`
      : `${names} stopped on this computer. Their tools cannot be used until they are back.`,
  listSeparator: ', ',

  modelGets: (model: string, count: number) =>
    count === 0
      ? `${model} gets no tools`
      : count === 1
        ? `${model} gets 1 tool`
        : `${model} gets ${count} tools`,
  modelTakesNone: 'The model is set to get no tools. An admin can change that in its settings.',
  leftOutElsewhere: (count: number) =>
    `${count} on other computers: name one with @, or pin it, to use it in this chat`,
  leftOutOff: (count: number) => `${count} switched off or never allowed`,
  leftOutWhenNeeded: (count: number) => `${count} of them only when they are needed`,
  leftOutBySearch: (count: number) =>
    `${count} more that it can search for; it always gets pinned tools`,
  leftOutAway: (count: number) => `${count} offline: their servers do not answer`,
  leftOutByExpert: (count: number, expert: string) => `${count} not among the tools of ${expert}`,

  computerAsk: 'Which computer is this?',
  computerFound:
    'Tools were found here. They are listed under the name of the computer, once for all browsers on it.',
  computerHelp: 'Its tools are listed under this name, once for all browsers on it.',
  computerKnown: 'The same computer as',
  computerAnother: 'Another computer, called',
  computerName: 'Name of this computer',
  computerNameMissing: 'Fill this in.',
  computerNameTaken: 'Another computer has this name.',
  computerUse: 'Use this name',
  computerIs: (name: string) => `This computer is called “${name}”.`,
  computerRename: 'Change',
  computerUnknown: 'Tools were found on this computer. Open Tools and say which computer it is.',
  computerOf: (system: string) => (system ? `${system} computer` : 'My computer'),

  backToTools: 'Back to all tools',
  toolId: 'ID',
  source: 'Source',
  runsOn: 'Runs on',
  runsOnServer: 'Tenon’s server',
  runsOnComputer: (name: string) => `Your computer (${name}), called by your browser`,
  permission: 'Permission',
  setBy: {
    organisation: 'Set for everybody by an admin.',
    user: 'Set by you, for all your chats.',
    expert: 'Set by the expert of this chat.',
    chat: 'Set by you, for this chat.',
  },
  setByNobody: {
    allow: 'Nobody set this: by default it is used without asking.',
    ask: 'Nobody set this: by default you are asked first.',
    deny: 'Nobody set this.',
  },
  model: 'Model',
  pin: (tool: string) => `Pin ${tool}`,
  pinHelp:
    'A pinned tool is always offered to the model, even when there are too many tools to offer all of them.',
  hints: 'What it does',
  isReadOnly: 'only reads',
  isDestructive: 'may change or delete things',
  isIdempotent: 'repeating a call changes nothing',
  isOpenWorld: 'reaches beyond this machine',
  isDeprecated: 'its source advises against it',
  cost: 'Cost',
  costOf: (count: string) => `about ${count} tokens with every message`,
  parameters: 'Parameters',
  noParameters: 'It takes no parameters.',
  noSchema: 'Its parameters could not be read. Close this and open it again.',
  parameterNames: 'Name',
  parameterMeanings: 'Type and meaning',
  required: 'required',
  showSchema: 'Schema as JSON',
  schemaCut: (shown: string, whole: string) =>
    `The first ${shown} of ${whole} are shown; copying takes all of it.`,
  moreParameters: (count: number) => `${count} more: see the schema.`,

  tryIt: 'Try it',
  tryHelp: 'Runs the tool at once, as you. No model is involved.',
  tryWrites: 'Calling it by hand is your approval.',
  tryAway: 'It cannot be called now: its source is offline.',
  tryForbidden: 'Your organisation does not allow this tool.',
  inputAs: 'Input as',
  inputForms: { form: 'Form', json: 'JSON' },
  input: 'Input',
  inputNotObject: 'This is not a JSON object, such as {"name": "value"}.',
  noInput: 'It takes no input.',
  run: 'Run',
  runAgain: 'Run again',
  cancel: 'Cancel',
  running: 'Running…',
  cancelled: 'Cancelled.',
  confirmRun: (tool: string) =>
    `${tool} may change or delete things, and that cannot be undone from here. Run it with this input?`,
  confirmLabel: 'Run it',
  notRun: (why: string) => `It was not run: ${why}`,
  result: 'Result',

  lastCalls: 'Your last calls',
  noCalls: 'You have not called it yet.',
  callInChat: 'in a chat',
  callByHand: 'by hand',
  callByKey: 'by a program with your key',
};

export type ToolPanelMessages = typeof toolPanelEn;
