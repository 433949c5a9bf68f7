// What is said about OpenAPI servers and their documents. It is loaded with the settings.

export const openapiEn = {
  given: 'Its document',
  givens: { address: 'At an address', document: 'I have it here' },
  url: 'Address of the server or of its document',
  urlHint: 'An mcpo with several servers behind it works too.',
  document: 'OpenAPI document',
  documentHint: 'JSON or YAML. OpenAPI 3 or Swagger 2.',
  documentKept: 'The stored one stays, unless another is given here.',
  dropHere: 'Drop the file here',
  chooseFile: 'Choose a file…',
  fromFile: (name: string, size: string) => `${name} · ${size}`,
  dropFile: (name: string) => `Leave ${name} out`,
  tooLarge: 'The file is too large: at most 32 MiB are read.',
  unreadable: 'The file could not be read.',
  baseUrl: 'Base address',
  baseUrlHint: 'Where requests go, if not where the document says.',

  look: 'Look',
  looking: 'Looking…',
  addKey: 'If it wants a key before it shows its document, add one as a header below.',
  sees: (title: string, tools: string) => `${title}: ${tools}`,
  found: 'What was found',
  untitled: 'Untitled',
  tools: 'Tools in it',
  readOnly: 'only reads',
  deprecated: 'deprecated, off at first',
  serversBehind: (count: number, names: string) =>
    count === 1 ? `One server behind it: ${names}` : `${count} servers behind it: ${names}`,
  listSeparator: ', ',
  skipped: (count: number) =>
    count === 1 ? 'One operation was left out' : `${count} operations were left out`,

  credentials: 'What it asks for',
  credentialsHint:
    'Left empty, nothing is sent. ${NAME} stands for everybody’s secret of that name, ${user.NAME} for each person’s own.',
  places: { header: 'in a header', query: 'in the address', cookie: 'in a cookie' } as Record<
    string,
    string
  >,
  kinds: {
    key: (name: string, place: string) => `Key “${name}” ${place}`.trim(),
    bearer: 'Bearer token',
    basic: 'User and password',
    client: 'OAuth client',
    other: (name: string) =>
      `Tenon cannot do this by itself (${name || 'unknown'}). A header may help.`,
    unknown: 'Its document does not ask for this any more.',
  },
  key: 'Key',
  token: 'Token',
  user: 'User',
  password: 'Password',
  clientId: 'Client id',
  clientSecret: 'Client secret',
  tokenUrl: 'Where tokens are given out',
  tokenUrlHint: 'Only if it is not where the document says.',
  scopes: 'Scopes',
  scopesHint: 'Separated by spaces; only if not what the document asks for.',
  emptyKeeps: (hint: string) => `${hint} Left empty, what is stored stays.`,
  fieldOf: (field: string, name: string) => `${field} for ${name}`,
  willGo: 'will be removed',

  readAgain: 'Read again',
  details: 'About its document',
  detailsOf: (name: string) => `Document of ${name}`,
  title: 'Title',
  readAt: 'Last read',
  never: 'not yet',
  where: 'Address',
  wasGiven: 'given by hand',
  behind: 'Servers behind it',
  lastChange: 'Last change',
  unchanged: 'Nothing has changed.',
  unchangedYet: 'none since it was first read',
  added: (count: number) => `${count} added`,
  removed: (count: number) => `${count} removed`,
  changed: (count: number) => `${count} changed`,
  which: 'Which ones',
};

export type OpenapiWords = typeof openapiEn;
