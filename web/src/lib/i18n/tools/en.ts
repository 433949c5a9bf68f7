// What the panel of tools says. Loaded on demand.

export const toolsEn = {
  allOrOn: 'Which tools are shown',
  views: { all: 'All', on: 'On' },
  noneOn: 'No tool is on.',
  showAll: 'Show all tools',
  filterTools: 'Filter tools',
  noTools: 'No tools are connected.',
  useTool: (name: string, where: string) => `Use ${name} ${where}`,
  useSource: (name: string, where: string) => `Use all of ${name} ${where}`,
  inThisChat: 'in this chat',
  inAllChats: 'in all your chats',
  countsHere: 'Switches apply to this chat; permissions apply to all your chats.',
  countsEverywhere: 'These settings apply to all your chats.',
  policyHere: (policy: string) => `In this chat: ${policy}`,
  defaultForEverybody: 'Default for everybody',
  defaultForEverybodyNote: 'Each person can override this, except “never”.',
  noDefaultForEverybody: 'For everybody: no default',
  failedBecause: (why: string) => `Not available: ${why}`,
  starting: 'Starting…',
  toolsOnHere: (on: number, all: number) => `${on} of ${all} on in this chat`,
  toolsOnEverywhere: (on: number, all: number) => `${on} of ${all} on, for all your chats`,
  useInAllChats: 'Use in all chats',
  policies: { allow: 'allow', ask: 'ask', deny: 'deny' },
  policyOf: (tool: string, policy: string) => `${tool}: ${policy}`,
  policyChoices: {
    allow: 'Allow without asking',
    ask: 'Ask me each time',
    deny: 'Never allow',
  },
  policyForget: 'Back to the default',
  policyForEverybody: {
    allow: 'For everybody: allow',
    ask: 'For everybody: ask',
    deny: 'For everybody: never',
  },
  deniedByOrganisation: 'Not allowed by your organisation',
};

export type ToolsMessages = typeof toolsEn;
