// What is said about tool servers on a person's own computer. It is loaded with the
// panel of tools and with the settings.
import type { Diagnosis } from '$lib/local/diagnose';

/** What a sentence about a trouble may name. */
export type DiagnosisContext<Kind extends Diagnosis['kind'] = Diagnosis['kind']> = {
  diagnosis: Extract<Diagnosis, { kind: Kind }>;
  /** "localhost:8000" */
  host: string;
  url: string;
  /** Of this page. */
  origin: string;
};

export interface DiagnosisText {
  /** What is the matter, in one sentence. */
  text: string;
  /** What to do about it. */
  help: string;
}

type DiagnosisTexts = {
  [Kind in Diagnosis['kind']]: (about: DiagnosisContext<Kind>) => DiagnosisText;
};

const diagnoses: DiagnosisTexts = {
  blockedPort: ({ host }) => ({
    text: `Browsers block the port of ${host}.`,
    help: 'Start the server on another port, and change the address here.',
  }),
  mixedContent: ({ url }) => ({
    text: `This page was loaded over https, so the browser does not let it reach ${url}.`,
    help: 'Run the server on this computer and use its localhost address, or give it https.',
  }),
  policy: ({ url }) => ({
    text: `This page may not reach ${url}: Tenon lets it talk only to localhost and 127.0.0.1.`,
    help: 'For a server elsewhere, let Tenon itself call it: add it as a tool server.',
  }),
  permissionAsk: () => ({
    text: 'Your browser asks for permission before a page may access your computer.',
    help: 'It will ask about “other apps and services on this device”. Choose Allow. You can revoke that at any time with the icon left of the address.',
  }),
  permissionUnanswered: () => ({
    text: 'Your browser may still be asking for permission (top left), or the server is slow.',
    help: 'Choose Allow there. If there is no question, look again.',
  }),
  permissionDismissed: () => ({
    text: 'Your browser’s permission prompt was closed without an answer.',
    help: 'Look again and choose Allow. If it is closed three times, the browser blocks this site.',
  }),
  permissionDenied: () => ({
    text: 'Access to apps on this device is blocked for this site: by you, by whoever manages this browser, or by Tenon’s own settings.',
    help: 'Click the icon left of the address, open the site settings, allow access to apps on this device (or the local network), and reload the page.',
  }),
  permissionNeedsHttps: ({ origin }) => ({
    text: `Browsers let only pages over https reach this computer, and this one is at ${origin}.`,
    help: 'Open Tenon over https. If Tenon runs on this very computer, open it at its localhost address.',
  }),
  notRunning: ({ host }) => ({
    text: `Nothing runs at ${host}.`,
    help: 'Start the server, or correct the port. For example:',
  }),
  notRunningOrNotHttp: ({ host }) => ({
    text: `Nothing usable answers at ${host}. Is the server running, on that port?`,
    help: 'It is not running, closes the connection, or does not speak HTTP. To start one, for example:',
  }),
  notHttp: ({ host }) => ({
    text: `Something listens at ${host}, but no page can use it: it closes the connection, does not speak HTTP, or keeps other sites out (Cross-Origin-Resource-Policy).`,
    help: 'Check the port. To start a tool server there, for example:',
  }),
  useHttp: ({ host }) => ({
    text: `The server at ${host} speaks http, not https.`,
    help: 'On your own computer http is just as safe.',
  }),
  useHttps: ({ host }) => ({
    text: `The server at ${host} speaks https, not http.`,
    help: 'Change the address to https.',
  }),
  tlsNotTrusted: ({ host }) => ({
    text: `Your browser does not trust the certificate of ${host}.`,
    help: 'Use plain http, which is as safe on your own computer, or a certificate that this computer trusts:',
  }),
  tlsOrNotRunning: ({ url }) => ({
    text: `Open ${url} in a tab: a warning means that the certificate is not trusted, “refused” that it is not running.`,
    help: 'A page cannot tell the two apart. Plain http is as safe on your own computer; a trusted certificate is made like this:',
  }),
  cors: ({ host, origin }) => ({
    text: `A server answers at ${host}, but does not let this site read it (CORS).`,
    help: `Let it allow the origin ${origin}. If it does already, it may want a key (as an mcpo with --strict-auth does) or fail: error responses often lack the CORS headers. Its log says more.`,
  }),
  preflightHeader: ({ diagnosis, host }) => ({
    text: `The server at ${host} lets this site read it, but not with the header “${diagnosis.header}”.`,
    help: 'Let it allow all headers that are asked for:',
  }),
  preflightRefused: ({ host }) => ({
    text: `The server at ${host} rejects the preflight request of browsers (OPTIONS).`,
    help: 'Handle CORS before anything else, including keys:',
  }),
  preflightMethod: ({ diagnosis, host }) => ({
    text: `The server at ${host} lets this site read it, but not send to it (${diagnosis.method}).`,
    help: 'Let it allow all methods:',
  }),
  hiddenHeader: ({ diagnosis, host }) => ({
    text: `The server at ${host} answers with the header “${diagnosis.header}”, but does not show it to this site.`,
    help: 'Let it expose the header:',
  }),
  tooSlow: ({ host }) => ({
    text: `${host} accepts the connection but does not answer in time.`,
    help: 'It may still be starting, or be stuck. Check its log, or restart it.',
  }),
  cut: ({ host }) => ({
    text: `${host} started to answer, then the connection broke.`,
    help: 'It may have crashed. Check its log, or restart it.',
  }),
  needsKey: ({ diagnosis, host }) => ({
    text: diagnosis.given
      ? `${host} rejects the key (${diagnosis.status}).`
      : `${host} requires a key (${diagnosis.status}).`,
    help: 'It stays in this browser and never goes to Tenon.',
  }),
  wrongPath: ({ diagnosis, host }) => ({
    text: `${host} answers, but has nothing at this path (${diagnosis.status}).`,
    help: 'These are the usual addresses:',
  }),
  notToolServer: ({ host }) => ({
    text: `${host} answers, but is not a tool server: it has neither an OpenAPI document nor an MCP endpoint.`,
    help: 'These are the usual addresses:',
  }),
  badSpec: ({ diagnosis, host }) => ({
    text: `The tool description of ${host} cannot be used: ${diagnosis.where}`,
    help: 'This has to be fixed in the server.',
  }),
  badHandshake: ({ diagnosis, host }) => ({
    text: `${host} answers, but not as an MCP server does${diagnosis.why ? `: ${diagnosis.why}` : '.'}`,
    help: 'Its log may say more. If it is not an MCP server, choose another kind. The usual addresses:',
  }),
  hub: ({ diagnosis }) => ({
    text: `The server was found, but Tenon could not be asked about it: ${diagnosis.why}`,
    help: 'Tenon is asked again at the next check.',
  }),
};

const short: Record<Diagnosis['kind'], string> = {
  blockedPort: 'Closed port',
  mixedContent: 'Not from an https page',
  policy: 'Not from this page',
  permissionAsk: 'Not checked yet',
  permissionUnanswered: 'Waiting for your browser',
  permissionDismissed: 'Not checked yet',
  permissionDenied: 'Blocked by your browser',
  permissionNeedsHttps: 'Needs https',
  notRunning: 'Not running',
  notRunningOrNotHttp: 'No answer',
  notHttp: 'Not usable',
  useHttp: 'Speaks http',
  useHttps: 'Speaks https',
  tlsNotTrusted: 'Certificate not trusted',
  tlsOrNotRunning: 'Certificate, or not running',
  cors: 'CORS',
  preflightHeader: 'CORS: a header',
  preflightRefused: 'CORS: OPTIONS',
  preflightMethod: 'CORS: a method',
  hiddenHeader: 'CORS: a hidden header',
  tooSlow: 'Too slow',
  cut: 'Interrupted',
  needsKey: 'Needs a key',
  wrongPath: 'Nothing at this path',
  notToolServer: 'Not a tool server',
  badSpec: 'Unusable description',
  badHandshake: 'No MCP answer',
  hub: 'Not registered',
};

export const localEn = {
  diagnoses,
  /** The same in a word or two, for a line. */
  short,

  here: 'On this computer',
  hereHelp: 'Tool servers on your own machine. This browser calls them; Tenon’s server never does.',
  noneYet: 'No tool server on this computer yet',
  problemCount: (count: number) => (count === 1 ? '1 problem' : `${count} problems`),
  howToStart: 'How to start one',
  startOne: 'Start one like this; it is found automatically:',
  howToFix: 'How to fix',
  lookAgain: 'Look again',
  looking: 'Looking…',
  retry: 'Try again',
  useInstead: (url: string) => `Use ${url}`,
  enterKey: 'Enter the key',
  openThere: (url: string) => `Open ${url}`,
  askTitle: 'Use tools on this computer',
  look: 'Look on this computer',
  waiting: 'Your browser may be asking for permission (top left). Choose Allow.',
  waitingShort: 'Waiting for your browser',

  makers: { mcpo: 'mcpo', fastmcp: 'FastMCP', express: 'Express', other: 'Others' },
  maker: 'What the server is made with',
  captions: {
    start: {
      mcpo: 'In a terminal:',
      fastmcp: 'As server.py, run by “uv run --with fastmcp server.py”:',
      express: 'As server.mjs, after “npm install express cors”, run by “node server.mjs”:',
      other: '',
    },
    cors: {
      mcpo: 'Add this option to the command that starts it:',
      fastmcp: 'Run it with this:',
      express: 'Before its routes, after “npm install cors”:',
      other: 'Headers of every response, including those to OPTIONS:',
    },
    tls: {
      mcpo: 'In a terminal, with mkcert; then these two options:',
      fastmcp: 'With mkcert in a terminal, then:',
      express: 'With mkcert in a terminal, then:',
      other: '',
    },
    where: {
      mcpo: 'An mcpo, with all servers behind it:',
      fastmcp: 'FastMCP and most MCP servers:',
      express: 'A web service with an OpenAPI document:',
      other: '',
    },
    key: {
      mcpo: 'The key of an mcpo is the value of this option:',
      fastmcp: '',
      express: '',
      other: '',
    },
  },

  add: 'Add an address',
  edit: (name: string) => `Change “${name}”`,
  menuOf: (name: string) => `Options for ${name}`,
  use: (name: string) => `Use ${name}`,
  remove: 'Remove',
  removeAsk: (name: string) =>
    `Remove “${name}”? Its tools disappear from your chats, and its key is deleted.`,
  off: 'Switched off',
  via: { mcpo: 'mcpo', openapi: 'OpenAPI', mcp: 'MCP' },
  serverCount: (count: number) => (count === 1 ? '1 server' : `${count} servers`),
  withKey: 'with a key',
  notesOf: (count: number) => (count === 1 ? 'One thing to know' : `${count} things to know`),

  address: 'Address or port',
  addressHint: 'Such as 8000 or http://localhost:8000/mcp.',
  kind: 'Kind',
  kinds: { auto: 'Detect', openapi: 'OpenAPI or mcpo', mcp: 'MCP' },
  name: 'Name',
  nameHint: 'Your name for it. Optional.',
  key: 'Key',
  keyHint: 'If it requires one. It stays in this browser and never goes to Tenon.',
  keyKept: 'Leave empty to keep the one you entered.',
  keyGone: 'The stored key was for another address. Enter one again if it is needed here.',
  header: 'Header of the key',
  headerHint: 'In Authorization, a key alone is sent as “Bearer KEY”.',
  showKey: 'Show the key',
  hideKey: 'Hide the key',
  removeKey: 'Forget the key',
  submitAdd: 'Add',
  problems: {
    missing: 'Fill this in.',
    notAddress: 'This is neither a port nor an address that begins with http:// or https://.',
    twice: 'This address is in the list already.',
    notHeader: 'This cannot be the name of a header.',
  },

  scan: 'Scan more ports',
  ports: 'Ports of this computer',
  portsHint: 'Such as 8000, 3000-3005. Tool servers that are found there are added.',
  noPorts: 'Enter at least one port.',
  scanNow: 'Scan',
  scanning: (count: number) => (count === 1 ? 'Scanning 1 port…' : `Scanning ${count} ports…`),
  scanned: (listening: number) =>
    listening === 0
      ? 'Nothing listens there.'
      : listening === 1
        ? 'One answers:'
        : `${listening} answer:`,
  scannedAdded: 'added',
  scannedKnown: 'in the list already',
  found: 'Found on this computer',

  sync: 'Keep these addresses in my account (never keys)',
  syncHelp: 'Your other browsers then check them too.',

  offline: (device: string) => `Offline · ${device}`,
  offlineHere: (device: string) => `Offline · ${device}, this computer`,
  forget: 'Forget the tools of this computer',
  forgetAsk: (device: string) =>
    `Forget all tools of “${device}”? They come back when Tenon is opened there again.`,
  forgetLabel: 'Forget',

  where: 'Where',
  ranThere: (device: string, url: string) =>
    `On your own computer: ${device} calls ${url}. Tenon’s server never reaches it.`,
  ranHere: 'On your own computer, by your browser. Tenon’s server never reaches it.',
  ranElsewhere: 'On the computer of the person who asked, by their browser.',
};

export type LocalMessages = typeof localEn;
