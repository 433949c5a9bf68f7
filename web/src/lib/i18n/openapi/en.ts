// What is said about OpenAPI servers and their documents. Loaded on demand.

export const openapiEn = {
  given: 'Its document',
  givens: { address: 'At an address', document: 'I have it here' },
  url: 'Address of the server or of its document',
  urlHint: 'An mcpo with several servers behind it works too.',
  document: 'OpenAPI document',
  documentHint: 'JSON or YAML. OpenAPI 3 or Swagger 2.',
  documentKept: 'The stored document is kept unless you provide another.',
  dropHere: 'Drop the file here',
  chooseFile: 'Choose a file…',
  fromFile: (name: string, size: string) => `${name} · ${size}`,
  dropFile: (name: string) => `Remove ${name}`,
  tooLarge: 'The file is too large: the limit is 32 MiB.',
  unreadable: 'The file could not be read.',
  baseUrl: 'Base address',
  baseUrlHint: 'Only if requests go to another address than the document says.',

  look: 'Look',
  looking: 'Looking…',
  addKey: 'If its document requires a key, add one as a header below.',
  sees: (title: string, tools: string) => `${title}: ${tools}`,
  found: 'What was found',
  untitled: 'Untitled',
  tools: 'Tools found',
  readOnly: 'read-only',
  deprecated: 'deprecated, off by default',
  serversBehind: (count: number, names: string) =>
    count === 1 ? `One server behind it: ${names}` : `${count} servers behind it: ${names}`,
  listSeparator: ', ',
  skipped: (count: number) =>
    count === 1 ? 'One operation was left out' : `${count} operations were left out`,

  credentials: 'Credentials',
  credentialsHint:
    'Leave empty to send nothing. ${NAME} is a shared secret, ${user.NAME} each person’s own.',
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
      `Tenon does not support this scheme (${name || 'unknown'}). A header may help.`,
    unknown: 'Its document no longer asks for this.',
  },
  key: 'Key',
  token: 'Token',
  user: 'User',
  password: 'Password',
  clientId: 'Client id',
  clientSecret: 'Client secret',
  tokenUrl: 'Token URL',
  tokenUrlHint: 'Only if it differs from the document.',
  scopes: 'Scopes',
  scopesHint: 'Separated by spaces. Only if they differ from the document.',
  emptyKeeps: (hint: string) => `${hint} Leave empty to keep the stored value.`,
  fieldOf: (field: string, name: string) => `${field} for ${name}`,
  willGo: 'will be removed',

  readAgain: 'Read again',
  details: 'About its document',
  detailsOf: (name: string) => `Document of ${name}`,
  title: 'Title',
  readAt: 'Last read',
  never: 'not yet',
  where: 'Address',
  wasGiven: 'provided by hand',
  behind: 'Servers behind it',
  lastChange: 'Last change',
  unchanged: 'Nothing has changed.',
  unchangedYet: 'none since the first reading',
  added: (count: number) => `${count} added`,
  removed: (count: number) => `${count} removed`,
  changed: (count: number) => `${count} changed`,
  which: 'Which ones',
};

export type OpenapiMessages = typeof openapiEn;
