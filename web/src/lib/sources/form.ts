// The form in which a server is added or changed: text as it is typed, and what
// the server is told of it.
import type { NewSource, SourceChange, SourceDetail, SourceReach } from '$lib/api/types';
import { blamed } from '$lib/api/blame';
import type { ApiError } from '$lib/api/client';
import { nameOfAddress, nameOfProgram } from './name';

/** A name and its value. What is kept is stored, and not known here. */
export interface Pair {
  name: string;
  value: string;
  kept: boolean;
  /** It came from the server, which shows nothing that is secret. */
  open?: boolean;
}

export interface SourceForm {
  reach: 'program' | 'address';
  command: string;
  /** One on each line. */
  args: string;
  env: readonly Pair[];
  cwd: string;
  url: string;
  headers: readonly Pair[];
  transport: 'http' | 'sse';
  /** What Tenon is known by where people log in, if somebody has registered it there. */
  clientId: string;
  /** Never told again: empty keeps the one there is. */
  clientSecret: string;
  name: string;
  /** Somebody typed it: it is not suggested any more. */
  nameTyped: boolean;
  title: string;
  whose: 'mine' | 'everybody';
  /** In seconds. */
  timeout: string;
  toolTimeouts: readonly Pair[];
  /** In minutes. */
  sleepAfter: string;
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
  'headers',
  'clientId',
  'clientSecret',
  'timeoutMs',
  'toolTimeoutsMs',
  'sleepAfterMs',
] as const;
export type Field = (typeof fields)[number];
type Problem = 'missing' | 'badName' | 'notAddress' | 'unnamed' | 'twice' | 'notDuration';
export type Problems = Partial<Record<Field, Problem>>;

export function emptyForm(whose: SourceForm['whose'], reach: SourceForm['reach']): SourceForm {
  return {
    reach,
    command: '',
    args: '',
    env: [],
    cwd: '',
    url: '',
    headers: [],
    transport: 'http',
    clientId: '',
    clientSecret: '',
    name: '',
    nameTyped: false,
    title: '',
    whose,
    timeout: '',
    toolTimeouts: [],
    sleepAfter: '',
  };
}

/** For one whose reach is known: only those who may change it are told. */
export function formOf(source: SourceDetail, reach: SourceReach): SourceForm {
  const program = reach.transport === 'stdio';
  return {
    ...emptyForm(source.mine ? 'mine' : 'everybody', program ? 'program' : 'address'),
    ...(program
      ? {
          command: reach.command,
          args: reach.args.join('\n'),
          env: pairsOf(reach.env),
          cwd: reach.cwd ?? '',
        }
      : {
          url: reach.url,
          headers: pairsOf(reach.headers),
          transport: reach.transport,
          clientId: reach.clientId ?? '',
        }),
    name: source.name,
    nameTyped: true,
    title: source.title === source.name ? '' : source.title,
    timeout: inUnits(reach.timeoutMs, 1000),
    toolTimeouts: Object.entries(reach.toolTimeoutsMs).map(([name, ms]) => ({
      name,
      value: inUnits(ms, 1000),
      kept: false,
    })),
    sleepAfter: inUnits(reach.sleepAfterMs, 60_000),
  };
}

/** A name is suggested until somebody types one. */
export function suggest(form: SourceForm): SourceForm {
  if (form.nameTyped) return form;
  const name =
    form.reach === 'program'
      ? nameOfProgram(form.command, linesOf(form.args))
      : nameOfAddress(form.url);
  return { ...form, name };
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

export function problemsOf(form: SourceForm): Problems {
  const problems: Problems = {};
  const wrong = (field: Field, problem: Problem | false | undefined | '') => {
    if (problem) problems[field] ??= problem;
  };
  if (form.reach === 'program') {
    wrong('command', !form.command.trim() && 'missing');
    wrong('env', wrongPairs(form.env));
  } else {
    wrong('url', !form.url.trim() && 'missing');
    wrong('url', !isAddress(form.url) && 'notAddress');
    wrong('headers', wrongPairs(form.headers, { ignoreCase: true }));
  }
  wrong('name', !form.name.trim() && 'missing');
  wrong('name', !/^[A-Za-z0-9_-]+$/.test(form.name.trim()) && 'badName');
  wrong('timeoutMs', !isDuration(form.timeout) && 'notDuration');
  wrong('toolTimeoutsMs', wrongPairs(form.toolTimeouts));
  const isWrong = ({ name, value }: Pair) => name.trim() && !(value.trim() && isDuration(value));
  wrong('toolTimeoutsMs', form.toolTimeouts.some(isWrong) && 'notDuration');
  wrong('sleepAfterMs', !isDuration(form.sleepAfter) && 'notDuration');
  return problems;
}

/** Fields that stand under “More”. */
export const furtherFields: readonly Field[] = [
  'cwd',
  'clientId',
  'clientSecret',
  'timeoutMs',
  'toolTimeoutsMs',
  'sleepAfterMs',
];

/** The field that the server would not have as it is, where it says which. */
export function blamedField({ code, message }: Pick<ApiError, 'code' | 'message'>) {
  if (code === 'taken') return 'name';
  return blamed(
    message,
    fields.map((field) => ({ field, called: [field] })),
  );
}

export function newSourceOf(form: SourceForm, mayShare: boolean): NewSource {
  const whole: Partial<NewSource> =
    form.reach === 'program'
      ? {
          transport: 'stdio',
          command: form.command.trim(),
          args: linesOf(form.args),
          env: valuesOf(form.env),
          ...(form.cwd.trim() && { cwd: form.cwd.trim() }),
        }
      : {
          transport: form.transport,
          url: form.url.trim(),
          headers: valuesOf(form.headers),
          ...(form.clientId.trim() && { clientId: form.clientId.trim() }),
          ...(form.clientSecret && { clientSecret: form.clientSecret }),
        };
  return {
    kind: 'mcp',
    name: form.name.trim(),
    ...(form.title.trim() && { title: form.title.trim() }),
    mine: !mayShare || form.whose === 'mine',
    ...whole,
    ...limitsOf(form),
  };
}

/** What of it differs from how it was; nothing where nothing does. */
export function changeOf(form: SourceForm, before: SourceForm): SourceChange {
  const change: SourceChange = {};
  const differs = (...names: (keyof SourceForm)[]) =>
    names.some((name) => JSON.stringify(form[name]) !== JSON.stringify(before[name]));
  const limits = limitsOf(form);
  if (differs('title')) change.title = form.title.trim() || form.name;
  if (form.reach === 'program') {
    if (differs('command')) change.command = form.command.trim();
    if (differs('args')) change.args = linesOf(form.args);
    if (differs('env')) change.env = hiddenOf(form.env);
    if (differs('cwd')) change.cwd = form.cwd.trim() || null;
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
): Pick<NewSource, 'timeoutMs' | 'toolTimeoutsMs' | 'sleepAfterMs'> {
  const tools = form.toolTimeouts.filter(({ name }) => name.trim());
  return {
    ...(form.timeout.trim() && { timeoutMs: inMs(form.timeout, 1000) }),
    ...(tools.length > 0 && {
      toolTimeoutsMs: Object.fromEntries(
        tools.map(({ name, value }) => [name.trim(), inMs(value, 1000)]),
      ),
    }),
    ...(form.sleepAfter.trim() && { sleepAfterMs: inMs(form.sleepAfter, 60_000) }),
  };
}

function pairsOf(values: Record<string, string | null>): Pair[] {
  return Object.entries(values).map(([name, value]) => ({
    name,
    value: value ?? '',
    kept: value === null,
    ...(value !== null && { open: true }),
  }));
}

const isEmpty = ({ name, value, kept }: Pair) => !name.trim() && !value && !kept;

function hiddenOf(pairs: readonly Pair[]): Record<string, string | null> {
  const given = pairs.filter((pair) => !isEmpty(pair));
  return Object.fromEntries(
    given.map(({ name, value, kept }) => [name.trim(), kept ? null : value]),
  );
}

function valuesOf(pairs: readonly Pair[]): Record<string, string> {
  const given = pairs.filter((pair) => !isEmpty(pair));
  return Object.fromEntries(given.map(({ name, value }) => [name.trim(), value]));
}

function wrongPairs(
  pairs: readonly Pair[],
  { ignoreCase = false } = {},
): 'unnamed' | 'twice' | undefined {
  const given = pairs.filter((pair) => !isEmpty(pair));
  const names = given.map(({ name }) => (ignoreCase ? name.trim().toLowerCase() : name.trim()));
  if (names.includes('')) return 'unnamed';
  return new Set(names).size < names.length ? 'twice' : undefined;
}

/** One with a variable in it is only known once that is filled in. */
function isAddress(text: string): boolean {
  const url = text.trim();
  return url.startsWith('${') || (/^https?:\/\/./i.test(url) && !/\s/.test(url));
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
