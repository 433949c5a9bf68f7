// The fields of a form that a tool shows: out of a flat JSON Schema, which comes
// from outside, and back into what is answered. The server judges the answer; what
// is checked here spares a person the way there.
import { truncate } from '$lib/format/truncate';

export interface ElicitationOption {
  value: string;
  label: string;
}

interface Common {
  name: string;
  label: string;
  hint: string;
  required: boolean;
}

export type ElicitationField = Common &
  (
    | { kind: 'text'; format: TextFormat; minLength?: number; maxLength?: number; initial: string }
    | { kind: 'number'; whole: boolean; minimum?: number; maximum?: number; initial: string }
    | { kind: 'yes'; initial: boolean }
    | { kind: 'one'; options: ElicitationOption[]; initial: string }
    | {
        kind: 'some';
        options: ElicitationOption[];
        minItems?: number;
        maxItems?: number;
        initial: string[];
      }
  );
export type TextFormat = 'plain' | 'email' | 'uri' | 'date' | 'date-time';

export type ElicitationValue = string | boolean | readonly string[];
/** By the names of fields, which come from outside: no object, whose own names might be meant. */
export type ElicitationValues = ReadonlyMap<string, ElicitationValue>;

export type ElicitationProblem =
  | { kind: 'missing' | 'notNumber' | 'notWhole' | 'notEmail' | 'notUri' }
  | { kind: 'atLeast' | 'atMost' | 'tooShort' | 'tooLong' | 'tooFew' | 'tooMany'; limit: number };

/** More than a person would fill in is a mistake or an attack. */
const MAX_FIELDS = 100;
const MAX_OPTIONS = 500;
const MAX_TEXT_LENGTH = 1_000;

type Schema = Record<string, unknown>;

export function elicitationFields(schema: unknown): ElicitationField[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties)
    .slice(0, MAX_FIELDS)
    .map(([name, property]) =>
      fieldOf(name, isObject(property) ? property : {}, required.has(name)),
    );
}

export function initialValues(fields: readonly ElicitationField[]): ElicitationValues {
  return new Map(fields.map((field) => [field.name, field.initial]));
}

export function elicitationProblem(
  field: ElicitationField,
  entry: ElicitationValue | undefined,
): ElicitationProblem | undefined {
  if (field.kind === 'yes') return undefined;
  if (field.kind === 'some') {
    const count = Array.isArray(entry) ? entry.length : 0;
    const least = Math.max(field.minItems ?? 0, field.required ? 1 : 0);
    if (count === 0 && !field.required) return undefined;
    if (count < least) return least === 1 ? { kind: 'missing' } : { kind: 'tooFew', limit: least };
    return over(count, field.maxItems)
      ? { kind: 'tooMany', limit: field.maxItems ?? 0 }
      : undefined;
  }
  const text = String(entry ?? '');
  if (!text.trim()) return field.required ? { kind: 'missing' } : undefined;
  return field.kind === 'number'
    ? numberProblem(field, text)
    : field.kind === 'text'
      ? textProblem(field, text)
      : undefined;
}

/** What is answered. What was left empty is left out. */
export function elicitationContent(
  fields: readonly ElicitationField[],
  entries: ElicitationValues,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = valueOf(field, entries.get(field.name));
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
}

/** An address in three pieces, its host in the middle. Absent where it is none to go to. */
export function addressPieces(
  url: string,
): { before: string; host: string; after: string; href: string } | undefined {
  try {
    const { protocol, host, href, username, password } = new URL(url);
    if (protocol !== 'https:' && protocol !== 'http:') return undefined;
    const signed = username || password ? `${username}${password && `:${password}`}@` : '';
    const before = `${protocol}//${signed}`;
    return { before, host, after: href.slice(before.length + host.length), href };
  } catch {
    return undefined;
  }
}

function fieldOf(name: string, schema: Schema, required: boolean): ElicitationField {
  const common: Common = {
    name,
    label: textIn(schema.title) || truncate(name, MAX_TEXT_LENGTH),
    hint: textIn(schema.description),
    required,
  };
  const { default: initial, type } = schema;
  if (type === 'boolean') return { ...common, kind: 'yes', initial: initial === true };
  if (type === 'number' || type === 'integer') {
    return {
      ...common,
      kind: 'number',
      whole: type === 'integer',
      minimum: numberIn(schema.minimum),
      maximum: numberIn(schema.maximum),
      initial: numberIn(initial)?.toString() ?? '',
    };
  }
  if (type === 'array') {
    const options = optionsOf(isObject(schema.items) ? schema.items : {});
    const chosen = Array.isArray(initial) ? initial : [];
    return {
      ...common,
      kind: 'some',
      options,
      minItems: numberIn(schema.minItems),
      maxItems: numberIn(schema.maxItems),
      initial: options.map(({ value }) => value).filter((value) => chosen.includes(value)),
    };
  }
  const options = optionsOf(schema);
  if (options.length > 0) {
    const isOne = options.some(({ value }) => value === initial);
    return { ...common, kind: 'one', options, initial: isOne ? (initial as string) : '' };
  }
  const format = formatOf(schema.format);
  return {
    ...common,
    kind: 'text',
    format,
    minLength: numberIn(schema.minLength),
    maxLength: numberIn(schema.maxLength),
    initial: typeof initial === 'string' ? asTyped(format, initial) : '',
  };
}

/** `enum`, with or without `enumNames`, or titled constants. */
function optionsOf(schema: Schema): ElicitationOption[] {
  const titled = [schema.oneOf, schema.anyOf].find(Array.isArray) as unknown[] | undefined;
  if (titled) {
    return titled.slice(0, MAX_OPTIONS).flatMap((option) => {
      if (!isObject(option) || typeof option.const !== 'string') return [];
      return [
        {
          value: option.const,
          label: textIn(option.title) || truncate(option.const, MAX_TEXT_LENGTH),
        },
      ];
    });
  }
  const values: unknown[] = Array.isArray(schema.enum) ? schema.enum : [];
  const names: unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return values
    .slice(0, MAX_OPTIONS)
    .flatMap((value, index) =>
      typeof value === 'string'
        ? [{ value, label: textIn(names[index]) || truncate(value, MAX_TEXT_LENGTH) }]
        : [],
    );
}

function formatOf(format: unknown): TextFormat {
  return format === 'email' || format === 'uri' || format === 'date' || format === 'date-time'
    ? format
    : 'plain';
}

/** A moment is typed as the clock on the wall shows it. */
function asTyped(format: TextFormat, text: string): string {
  if (format !== 'date-time') return text;
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return '';
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

function valueOf(field: ElicitationField, entry: ElicitationValue | undefined): unknown {
  switch (field.kind) {
    case 'yes':
      return entry === true;
    case 'some': {
      const chosen = Array.isArray(entry) ? entry : [];
      return chosen.length > 0 || field.required ? [...chosen] : undefined;
    }
    case 'number': {
      const text = String(entry ?? '').trim();
      return text ? Number(text.replace(',', '.')) : undefined;
    }
    case 'one':
      return entry === '' ? undefined : entry;
    case 'text': {
      const text = String(entry ?? '');
      if (!text.trim()) return undefined;
      if (field.format === 'date-time') return new Date(text).toISOString();
      return field.format === 'plain' ? text : text.trim();
    }
  }
}

function numberProblem(
  { whole, minimum, maximum }: Extract<ElicitationField, { kind: 'number' }>,
  text: string,
): ElicitationProblem | undefined {
  // Much of the world writes a comma.
  const plain = text.trim().replace(',', '.');
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain)) return { kind: 'notNumber' };
  const value = Number(plain);
  if (!Number.isFinite(value)) return { kind: 'notNumber' };
  if (whole && !Number.isInteger(value)) return { kind: 'notWhole' };
  if (minimum !== undefined && value < minimum) return { kind: 'atLeast', limit: minimum };
  return over(value, maximum) ? { kind: 'atMost', limit: maximum ?? 0 } : undefined;
}

function textProblem(
  { format, minLength, maxLength }: Extract<ElicitationField, { kind: 'text' }>,
  text: string,
): ElicitationProblem | undefined {
  if (format === 'email' && !/^[^\s@]+@[^\s@]+$/.test(text.trim())) return { kind: 'notEmail' };
  if (format === 'uri' && !URL.canParse(text.trim())) return { kind: 'notUri' };
  // By characters and not by the halves that JavaScript counts.
  const length = [...text].length;
  if (minLength !== undefined && length < minLength) return { kind: 'tooShort', limit: minLength };
  return over(length, maxLength) ? { kind: 'tooLong', limit: maxLength ?? 0 } : undefined;
}

function over(value: number, most: number | undefined): boolean {
  return most !== undefined && value > most;
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? truncate(value.trim(), MAX_TEXT_LENGTH) : '';
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
