// What the owner of an account reads that somebody else was in. Loaded on demand.

const count = (number: number, one: string, more: string) =>
  `${number} ${number === 1 ? one : more}`;

export const handoverEn = {
  title: 'Someone used this account before you',
  why: 'It was created with your e-mail address, which had not been verified. It is yours now. Everything that could still act for that person, or inform them, was switched off:',
  waysIn: 'The old password, all log-ins and all API keys no longer work.',
  servers: (number: number) =>
    number === 1 ? 'A tool server is switched off:' : `${number} tool servers are switched off:`,
  serverLogIns: (number: number) =>
    `${count(number, 'log-in', 'log-ins')} at tool servers ended. Log in there yourself to use them.`,
  secrets: (number: number) =>
    `${count(number, 'secret', 'secrets')} for tool servers ${number === 1 ? 'was' : 'were'} removed.`,
  localServers: (number: number) =>
    `${count(number, 'server', 'servers')} on other computers ${number === 1 ? 'is' : 'are'} no longer listed.`,
  shares: (number: number) => `${count(number, 'link', 'links')} to chats no longer work.`,
  allowedTools: (number: number) =>
    `${count(number, 'tool asks', 'tools ask')} again before ${number === 1 ? 'it is' : 'they are'} used.`,
  chats: 'The chats are still there. Switch on only what you know, in Settings → Tool servers.',
  understood: 'Understood',
  toServers: 'Open tool servers',
  comma: ', ',
};

export type HandoverMessages = typeof handoverEn;
