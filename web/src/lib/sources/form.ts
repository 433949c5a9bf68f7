// The form in which a server is added or changed: text as it is typed, and what
// is sent to the server.
import type {
  AddSource,
  SourceChange,
  SourceDetail,
  SourcePreview,
  SourceReach,
} from '$lib/api/types';
import type { ApiError } from '$lib/api/client';
import { isAddress } from './address';
import {
  allCredentials,
  credentialsFor,
  filledCredentials,
  givenCredentials,
  isIncomplete,
  isLost,
  withSchemes,
  type Credential,
} from './credentials';
import { titleIn } from './document';
import { nameOfAddress, nameOfProgram, nameOfTitle } from './name';
import { hiddenOf, keyValuesOf, valuesOf, invalidKeyValues, type KeyValue } from './keyValues';

export interface SourceForm {
  reach: 'program' | 'address' | 'openapi';
  command: string;
  /** One on each line. */
  args: string;
  env: readonly KeyValue[];
  cwd: string;
  url: string;
  headers: readonly KeyValue[];
  transport: 'http' | 'sse';
  /** Whether the document of an OpenAPI server is fetched, or somebody has it. */
  given: 'address' | 'document';
  document: string;
  /** The file that it was read from: then it is not shown. */
  file: { name: string; size: number } | undefined;
  /** A document is stored. */
  documentKept: boolean;
  baseUrl: string;
  credentials: readonly Credential[];
  /** The latest preview, until the document changes. */
  found: SourcePreview | undefined;
  /** The OAuth client id of Tenon, if it was registered by hand. */
  clientId: string;
  /** Never sent to the page: empty keeps the stored one. */
  clientSecret: string;
  name: string;
  /** Somebody typed it: it is not suggested any more. */
  nameTyped: boolean;
  title: string;
  whose: 'mine' | 'everybody';
  /** An admin's to say. */
  trustHints: boolean;
  /** In seconds. */
  timeout: string;
  toolTimeouts: readonly KeyValue[];
  /** In minutes. */
  sleepAfter: string;
  /** In seconds. */
  startTimeout: string;
  /** It runs at one of several Tenon servers. */
  exclusive: boolean;
}

/** What can be wrong, by the names that the server has for the fields. */
const fields = [
  'name',
  'title',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'document',
  'credentials',
  'headers',
  'baseUrl',
  'clientId',
  'clientSecret',
  'timeoutMs',
  'toolTimeoutsMs',
  'sleepAfterMs',
  'startTimeoutMs',
] as const;
export type SourceField = (typeof fields)[number];
type Problem = 'missing' | 'badName' | 'notAddress' | 'unnamed' | 'twice' | 'half' | 'notDuration';
export type SourceProblems = Partial<Record<SourceField, Problem>>;

export function emptySourceForm(
  whose: SourceForm['whose'],
  reach: SourceForm['reach'],
): SourceForm {
  return {
    reach,
    command: '',
    args: '',
    env: [],
    cwd: '',
    url: '',
    headers: [],
    transport: 'http',
    given: 'address',
    document: '',
    file: undefined,
    documentKept: false,
    baseUrl: '',
    credentials: [],
    found: undefined,
    clientId: '',
    clientSecret: '',
    name: '',
    nameTyped: false,
    title: '',
    whose,
    trustHints: true,
    timeout: '',
    toolTimeouts: [],
    sleepAfter: '',
    startTimeout: '',
    exclusive: false,
  };
}

/** The form of an existing server, whose connection only those see who may change it. */
export function sourceFormOf(source: SourceDetail, reach: SourceReach): SourceForm {
  return {
    ...emptySourceForm(source.mine ? 'mine' : 'everybody', 'address'),
    ...reachOf(source, reach),
    name: source.name,
    nameTyped: true,
    title: source.title === source.name ? '' : source.title,
    trustHints: source.trustHints,
    timeout: inUnits(reach.timeoutMs, 1000),
    toolTimeouts: Object.entries(reach.toolTimeoutsMs).map(([name, ms]) => ({
      name,
      value: inUnits(ms, 1000),
      kept: false,
    })),
    sleepAfter: inUnits(reach.sleepAfterMs, 60_000),
    startTimeout: inUnits(reach.startTimeoutMs, 1000),
    exclusive: reach.exclusive ?? false,
  };
}

function reachOf(source: SourceDetail, reach: SourceReach): Partial<SourceForm> {
  switch (reach.transport) {
    case 'stdio':
      return {
        reach: 'program',
        command: reach.command,
        args: reach.args.join('\n'),
        env: keyValuesOf(reach.env),
        cwd: reach.cwd ?? '',
      };
    case 'http':
    case 'sse':
      return {
        reach: 'address',
        url: reach.url,
        headers: keyValuesOf(reach.headers),
        transport: reach.transport,
        clientId: reach.clientId ?? '',
      };
    case 'openapi':
      return {
        reach: 'openapi',
        given: reach.url === undefined ? 'document' : 'address',
        documentKept: reach.url === undefined,
        url: reach.url ?? '',
        baseUrl: reach.baseUrl ?? '',
        headers: keyValuesOf(reach.headers),
        credentials: credentialsFor(reach.credentials, source.document?.schemes ?? []),
      };
  }
}

/** What was seen of another document is of no use. */
export function withChange(form: SourceForm, change: Partial<SourceForm>): SourceForm {
  const isAnother = ['reach', 'given', 'url', 'document'].some((part) => part in change);
  const forgotten = isAnother && {
    found: undefined,
    credentials: filledCredentials(form.credentials),
  };
  return suggest({ ...form, ...forgotten, ...change });
}

/** What a look at its document changes. */
export function withPreview(form: SourceForm, found: SourcePreview): Partial<SourceForm> {
  return { found, credentials: withSchemes(form.credentials, found.schemes) };
}

/** Suggests a name until one is typed. */
export function suggest(form: SourceForm): SourceForm {
  return form.nameTyped ? form : { ...form, name: suggestion(form) };
}

function suggestion({ reach, command, args, url, given, document, found }: SourceForm): string {
  if (reach === 'program') return nameOfProgram(command, linesOf(args));
  if (reach === 'address') return nameOfAddress(url);
  if (found && found.servers.length > 0) return 'mcpo';
  const title = found?.title ?? (given === 'document' ? titleIn(document) : '');
  return nameOfTitle(title) || (given === 'address' ? nameOfAddress(url) : '');
}

/** Who types or pastes a whole line where the program goes has its arguments put where they go. */
export function splitCommand(form: SourceForm): SourceForm {
  const line = form.command.trim();
  // A path may hold spaces of its own.
  if (form.args.trim() || !/^[\w.@-]+\s/.test(line)) return form;
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  return suggest({ ...form, command: words[0] ?? '', args: words.slice(1).join('\n') });
}

export function sourceProblems(form: SourceForm): SourceProblems {
  const problems: SourceProblems = {};
  const wrong = (field: SourceField, problem: Problem | false | undefined | '') => {
    if (problem) problems[field] ??= problem;
  };
  if (form.reach === 'program') {
    wrong('command', !form.command.trim() && 'missing');
    wrong('env', invalidKeyValues(form.env));
  } else {
    if (form.reach === 'openapi' && form.given === 'document') {
      wrong('document', !form.documentKept && !form.document.trim() && 'missing');
    } else {
      wrong('url', !form.url.trim() && 'missing');
      wrong('url', !isAddress(form.url) && 'notAddress');
    }
    wrong('headers', invalidKeyValues(form.headers, { ignoreCase: true }));
  }
  if (form.reach === 'openapi') {
    wrong('credentials', form.credentials.some(isIncomplete) && 'half');
    wrong('credentials', form.credentials.some(isLost) && 'notAddress');
    wrong('baseUrl', form.baseUrl.trim() && !isAddress(form.baseUrl) && 'notAddress');
  }
  wrong('name', !form.name.trim() && 'missing');
  wrong('name', !/^[A-Za-z0-9_-]+$/.test(form.name.trim()) && 'badName');
  wrong('timeoutMs', !isDuration(form.timeout) && 'notDuration');
  wrong('toolTimeoutsMs', invalidKeyValues(form.toolTimeouts));
  const isWrong = ({ name, value }: KeyValue) =>
    name.trim() && !(value.trim() && isDuration(value));
  wrong('toolTimeoutsMs', form.toolTimeouts.some(isWrong) && 'notDuration');
  if (form.reach !== 'openapi') {
    wrong('sleepAfterMs', !isDuration(form.sleepAfter) && 'notDuration');
    wrong('startTimeoutMs', !isDuration(form.startTimeout) && 'notDuration');
  }
  return problems;
}

/** Fields that stand under “More”. */
export const furtherFields: readonly SourceField[] = [
  'cwd',
  'clientId',
  'clientSecret',
  'timeoutMs',
  'toolTimeoutsMs',
  'sleepAfterMs',
  'startTimeoutMs',
];

/** The field that the server would not have as it is, where it says which. */
export function sourceFieldOfError(
  { code, field }: Pick<ApiError, 'code' | 'field'>,
  form?: SourceForm,
): SourceField | undefined {
  const isEmpty = (name: 'headers' | 'credentials') => form?.[name].length === 0;
  // Both are kept for an address; the one that is there has to be entered again.
  if (field === 'headers' && isEmpty('headers') && form && !isEmpty('credentials')) {
    return 'credentials';
  }
  const found = fields.find((name) => name === field);
  // It says what is wrong in a document, and not that it means the document.
  const isDocument = form?.reach === 'openapi' && form.given === 'document' && form.document !== '';
  return found ?? (isDocument && code.startsWith('document_') ? 'document' : undefined);
}

/** What a look at an OpenAPI server depends on, in the order of the form. */
export const previewFields = ['url', 'document', 'credentials', 'headers', 'baseUrl'] as const;

/** The field that a failed look is about: the document is what was looked for. */
export function previewFieldOfError(
  error: Pick<ApiError, 'code' | 'field'>,
  form: SourceForm,
): SourceField {
  const found = sourceFieldOfError(error, form);
  if (found && (previewFields as readonly SourceField[]).includes(found)) return found;
  return form.given === 'document' ? 'document' : 'url';
}

/** Whether a document is not shown to everybody: only headers are sent along when it is read. */
export function wantsKey({ code }: Pick<ApiError, 'code'>): boolean {
  return code === 'wants_key';
}

export function newSourceOf(form: SourceForm, isAdmin: boolean): AddSource {
  return {
    kind: form.reach === 'openapi' ? 'openapi' : 'mcp',
    name: form.name.trim(),
    ...(form.title.trim() && { title: form.title.trim() }),
    mine: !isAdmin || form.whose === 'mine',
    ...(isAdmin && { trustHints: form.trustHints }),
    ...wholeReach(form),
    ...limitsOf(form),
    ...(form.exclusive && form.reach !== 'openapi' && { exclusive: true }),
  };
}

function wholeReach(form: SourceForm): Partial<AddSource> {
  switch (form.reach) {
    case 'program':
      return {
        transport: 'stdio',
        command: form.command.trim(),
        args: linesOf(form.args),
        env: valuesOf(form.env),
        ...(form.cwd.trim() && { cwd: form.cwd.trim() }),
      };
    case 'address':
      return {
        transport: form.transport,
        url: form.url.trim(),
        headers: valuesOf(form.headers),
        ...(form.clientId.trim() && { clientId: form.clientId.trim() }),
        ...(form.clientSecret && { clientSecret: form.clientSecret }),
      };
    case 'openapi':
      return {
        ...(form.given === 'document' ? { document: form.document } : { url: form.url.trim() }),
        ...(form.baseUrl.trim() && { baseUrl: form.baseUrl.trim() }),
        headers: valuesOf(form.headers),
        credentials: givenCredentials(form.credentials),
      };
  }
}

/** What of it differs from how it was; nothing where nothing does. */
export function sourceChangeOf(form: SourceForm, before: SourceForm): SourceChange {
  const change: SourceChange = {};
  const differs = (...names: (keyof SourceForm)[]) =>
    names.some((name) => JSON.stringify(form[name]) !== JSON.stringify(before[name]));
  const limits = limitsOf(form);
  if (differs('title')) change.title = form.title.trim() || form.name;
  if (differs('trustHints')) change.trustHints = form.trustHints;
  if (form.reach === 'program') {
    if (differs('command')) change.command = form.command.trim();
    if (differs('args')) change.args = linesOf(form.args);
    if (differs('env')) change.env = hiddenOf(form.env);
    if (differs('cwd')) change.cwd = form.cwd.trim() || null;
  } else if (form.reach === 'openapi') {
    const credentials = allCredentials(form.credentials);
    if (form.given === 'document') {
      if (form.document) change.document = form.document;
    } else if (differs('url', 'given')) change.url = form.url.trim();
    if (differs('baseUrl')) change.baseUrl = form.baseUrl.trim() || null;
    if (differs('headers')) change.headers = hiddenOf(form.headers);
    if (JSON.stringify(credentials) !== JSON.stringify(allCredentials(before.credentials))) {
      change.credentials = credentials;
    }
  } else {
    if (differs('url')) change.url = form.url.trim();
    if (differs('transport')) change.transport = form.transport;
    if (differs('headers')) change.headers = hiddenOf(form.headers);
    if (differs('clientId')) change.clientId = form.clientId.trim() || null;
    if (differs('clientSecret')) change.clientSecret = form.clientSecret;
  }
  if (differs('timeout')) change.timeoutMs = limits.timeoutMs ?? null;
  if (differs('toolTimeouts')) change.toolTimeoutsMs = limits.toolTimeoutsMs ?? {};
  if (differs('sleepAfter')) change.sleepAfterMs = limits.sleepAfterMs ?? null;
  if (differs('exclusive')) change.exclusive = form.exclusive;
  if (differs('startTimeout')) change.startTimeoutMs = limits.startTimeoutMs ?? null;
  return change;
}

/** As they are passed on, so without the spaces around them and without empty ones. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

function limitsOf(
  form: SourceForm,
): Pick<AddSource, 'timeoutMs' | 'toolTimeoutsMs' | 'sleepAfterMs' | 'startTimeoutMs'> {
  const tools = form.toolTimeouts.filter(({ name }) => name.trim());
  return {
    ...(form.timeout.trim() && { timeoutMs: inMs(form.timeout, 1000) }),
    ...(tools.length > 0 && {
      toolTimeoutsMs: Object.fromEntries(
        tools.map(({ name, value }) => [name.trim(), inMs(value, 1000)]),
      ),
    }),
    ...(form.reach !== 'openapi' &&
      form.sleepAfter.trim() && { sleepAfterMs: inMs(form.sleepAfter, 60_000) }),
    ...(form.reach !== 'openapi' &&
      form.startTimeout.trim() && { startTimeoutMs: inMs(form.startTimeout, 1000) }),
  };
}

function isDuration(text: string): boolean {
  return !text.trim() || (/^\d+(?:\.\d+)?$/.test(text.trim()) && Number(text) > 0);
}

function inMs(text: string, unit: number): number {
  return Math.max(1, Math.round(Number(text) * unit));
}

function inUnits(ms: number | undefined, unit: number): string {
  return ms === undefined ? '' : String(Math.round((ms / unit) * 1000) / 1000);
}
