// What is said about the servers that tools come from, and about secrets. It is
// loaded with the settings and with the panel of tools.

export const sourcesEn = {
  servers: 'Tool servers',
  serversHelp: 'MCP and OpenAPI servers whose tools can be used in chats.',
  whatServersAre:
    'An MCP server is a program or an address that offers tools: files, a calendar, a database and more. A web service with an OpenAPI description works as well. Once added, its tools can be used in every chat.',
  addServer: 'Add a server',
  pasteConfiguration: 'Paste a configuration',

  states: {
    starting: 'Starting…',
    ready: 'Ready',
    degraded: 'Impaired',
    failed: 'Not available',
    sleeping: 'Sleeping',
    off: 'Switched off',
    offline: 'Offline',
  },
  startupSteps: {
    queued: 'Waiting for other servers to start…',
    installing: 'Installing…',
    starting: 'Starting…',
  },
  sleepingMeans: 'The next call wakes it.',
  asLastSeen: 'Its tools are listed as last seen.',
  needsLogIn: 'Log-in required',
  needsSecrets: 'Secrets required',
  transports: { stdio: 'program', http: 'HTTP', sse: 'SSE', openapi: 'OpenAPI' },
  mine: 'only yours',
  fromFile: (file: string) => `from the file ${file}`,
  fileMeans: 'Change it in that file.',
  fromVariable: (variable: string) => `from the variable ${variable}`,
  variableMeans: 'Change it in that variable, which is read when Tenon starts.',
  restarts: (count: number) => (count === 1 ? 'restarted once' : `restarted ${count} times`),
  process: (pid: number) => `process ${pid}`,
  speaks: (name: string, version: string) => `${name} ${version}`.trim(),
  protocol: (version: string) => `MCP ${version}`,

  /** What usually helps, by the codes of the server. */
  advice: {
    runtime_too_old: ({ runtime, found }) =>
      found
        ? `It needs a newer ${runtime} than ${found}, which is on this machine.`
        : `It needs a newer ${runtime} than there is on this machine.`,
    package_not_found: ({ package: name }) =>
      `There is no ${name ? `package “${name}”` : 'such package'}: check how its name is spelled in the arguments.`,
    package_not_runnable: () =>
      'The package has no program to run: check its name, or name the program (--package of npx, --from of uvx).',
    package_broken: ({ folder }) =>
      folder
        ? `The package was installed only halfway. Remove the folder ${folder} and try again.`
        : 'The package was installed only halfway. Remove it from the installer’s cache and try again.',
    module_not_found: ({ module }) =>
      `“${module}” is not installed where it looks for it: install it there, or check the path in the arguments.`,
    command_not_found: ({ command }) =>
      `“${command}” was not found. Install it on the machine Tenon runs on.`,
    variable_missing: ({ name }) =>
      `It needs the environment variable ${name}: set it for this server.`,
    arguments_wrong: () => 'It does not understand its arguments: compare them with its manual.',
    port_in_use: ({ port }) =>
      `${port ? `Port ${port}` : 'Its port'} is in use: end what uses it, or give the server another one.`,
    docker_not_running: () =>
      'Docker does not run on this machine, or Tenon may not use it: start it, and try again.',
    registry_unreachable: () =>
      'What it has to download cannot be reached: check the network and the proxy of the machine Tenon runs on.',
    permission_denied: () => 'It may not read, write or run something that it needs.',
    disk_full: () => 'There is no space left on the disk: make room, and try again.',
  } as Readonly<Record<string, (params: Readonly<Record<string, string>>) => string>>,
  whatItWrote: 'What it wrote',

  menuOf: (name: string) => `Options for ${name}`,
  use: (name: string) => `Use ${name}`,
  restart: 'Restart',
  tryAgain: 'Try again',
  logs: 'Log',
  logsOf: (name: string) => `Log of ${name}`,
  showLog: 'Show log',
  hideLog: 'Hide log',
  refresh: 'Refresh',
  noLogs: 'No log entries yet.',
  ours: 'Tenon',
  remove: 'Remove',
  removeAsk: (name: string) =>
    `Remove “${name}”? Its tools disappear from all chats, and its settings are lost. This cannot be undone.`,
  logIn: 'Log in',
  logInFirst: 'Its tools can be used once you have logged in there.',
  logInAgain: 'Log in again',
  logOut: 'Log out',
  logOutAsk: (name: string) =>
    `Log out of “${name}”? Its tools are unavailable until you log in again.`,
  logInGoesTo: (host: string) => `Continue to ${host}`,
  logInMeans: 'Log in there in a new tab, then come back here.',
  logInNowhere: 'It did not say where to log in. Ask its admin.',
  loggedIn: 'logged in',
  missing: 'It needs a secret of yours:',
  problemsOf: (count: number) => (count === 1 ? 'One thing to know' : `${count} things to know`),

  editServer: (name: string) => `Change “${name}”`,
  reach: 'What it is',
  reaches: { program: 'A program', address: 'An address', openapi: 'OpenAPI' },
  reachHints: {
    program: 'Tenon runs it on this machine, and stops it when Tenon stops.',
    address: 'An MCP server that is reached over HTTP.',
    openapi: 'A web service with an OpenAPI document, or an mcpo: each operation is a tool.',
  },
  command: 'Command',
  commandHint: 'Only the program, such as npx or /usr/bin/python3.',
  args: 'Arguments',
  argsHint: 'One per line, without quotes.',
  env: 'Environment variables',
  cwd: 'Working folder',
  cwdHint: 'If empty, a folder of its own.',
  url: 'Address',
  headers: 'Headers',
  valuesHint: '${NAME} is a shared secret, ${user.NAME} each person’s own.',
  valuesHintMine: '${user.NAME} is your secret of that name.',
  transport: 'Protocol',
  transportChoices: { http: 'Streamable HTTP, or detect', sse: 'SSE (older servers)' },
  clientId: 'Client id',
  clientIdHint: 'OAuth client id of Tenon, if the server does not register clients by itself.',
  clientSecret: 'Client secret',
  clientSecretHint: 'If it gave you one.',
  clientSecretKept: 'Leave empty to keep the stored one.',
  pairName: (index: number) => `Name ${index}`,
  pairValue: (name: string) => `Value of ${name}`,
  showValue: 'Show the value',
  hideValue: 'Hide the value',
  valuePlaceholder: 'Value',
  namePlaceholder: 'Name',
  kept: 'stored, not shown',
  replace: 'Replace',
  keepOld: 'Keep the stored one',
  addVariable: 'Add a variable',
  addHeader: 'Add a header',
  removeRow: (name: string) => `Remove ${name}`,
  unnamed: 'the unnamed one',
  name: 'Name',
  nameHint: (kind: string, name: string) =>
    `Part of its tools’ ids, such as ${kind}_${name || 'name'}_… It cannot be changed later.`,
  nameFixed: (kind: string, name: string) => `Its tools’ ids begin with ${kind}_${name}_.`,
  title: 'Title',
  titleHint: 'Display name. If empty, the name is used.',
  whose: 'For whom',
  whoses: { everybody: 'For everybody', mine: 'Only for me' },
  further: 'More',
  timeout: 'Call timeout, in seconds',
  timeoutHint: 'A call is cancelled after this long without progress.',
  toolTimeouts: 'Timeouts of single tools, in seconds',
  addToolTimeout: 'Add a tool',
  toolNamePlaceholder: 'Tool',
  secondsPlaceholder: 'Seconds',
  sleepAfter: 'Put to sleep after idle minutes',
  sleepAfterHint: 'If empty, it stays awake.',
  startTimeout: 'Start-up timeout, in seconds',
  startTimeoutHint: 'Default 300: npx and uvx may have to install it first.',
  startTimeoutHintAddress: 'Default 60.',
  problems: {
    missing: 'Fill this in.',
    badName: 'Letters, digits, - and _ only.',
    notAddress: 'An address begins with http:// or https://.',
    unnamed: 'One of them has no name.',
    twice: 'This name is used twice.',
    half: 'Something is missing here.',
    notDuration: 'A number above zero, such as 30.',
  },
  add: 'Add',

  importHelp:
    'JSON or YAML: a configuration of Claude Desktop, Cursor, VS Code, mcpo or Toolathlon, the tool server connections of Open WebUI, or a whole OpenAPI document. An address alone works too.',
  importText: 'Configuration',
  importPlaceholder:
    '{\n  "mcpServers": {\n    "memory": {\n      "command": "npx",\n      "args": ["-y", "@modelcontextprotocol/server-memory"]\n    }\n  }\n}',
  chooseFile: 'Choose a file…',
  dropHere: 'Drop the file here',
  fileTooLarge: 'The file is too large to be a configuration.',
  looking: 'Looking…',
  nothingIn: 'There are no servers in it.',
  found: 'Servers found',
  willBeAdded: 'Will be added',
  isThere: 'Already added.',
  takeThis: (name: string) => `Add ${name}`,
  unset: 'Variables that nobody has set yet:',
  unsetLater: 'They can also be set later, under “Secrets”.',
  addChosen: (count: number) => (count === 1 ? 'Add 1 server' : `Add ${count} servers`),
  nothingToAdd: 'Nothing to add',
  notAdded: (name: string, why: string) => `${name} was not added: ${why}`,

  secrets: 'Secrets',
  secretsHelp:
    'Values for servers that are never shown again. In a configuration, ${NAME} is a shared secret and ${user.NAME} your own.',
  noSecrets: 'There are no secrets.',
  addSecret: 'Add a secret',
  secretName: 'Name',
  secretNameHint: 'Such as GITHUB_TOKEN.',
  wrongSecretNames: {
    bad: 'Letters, digits, . - and _ only. It begins with a letter or _.',
    own: 'Leave “user.” out: it marks a personal secret in a configuration.',
  },
  secretValue: 'Value',
  secretWhoses: { mine: 'Mine', everybody: 'Everybody’s' },
  secretWhoseHints: {
    mine: 'Only servers that work for you get it.',
    everybody: 'Shared servers get it, whoever uses them.',
  },
  setOn: (time: string) => `set ${time}`,
  replaceSecret: (name: string) => `New value of ${name}`,
  removeSecretAsk: (name: string) =>
    `Remove “${name}”? Servers that need it stop working. The value cannot be recovered.`,
  set: 'Set',

  manageServers: 'Tool servers…',
};

export type SourcesMessages = typeof sourcesEn;
