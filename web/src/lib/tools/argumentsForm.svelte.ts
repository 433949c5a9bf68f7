// The arguments of a call, filled in field by field or written as JSON.
import type { ElicitationValues } from '$lib/chat/elicitation';
import { parameterLines } from '$lib/skills/parameters';
import {
  entriesOf,
  entryProblem,
  schemaFields,
  valuesOf,
  type SchemaField,
} from '$lib/skills/schemaForm';

export type ArgumentsMode = 'form' | 'json';

/** Nobody fills in more fields than this: it is written as JSON. */
const MAX_FIELDS = 100;

export class ArgumentsForm {
  readonly fields: readonly SchemaField[];
  /** There is a form at all. */
  readonly hasForm: boolean;
  entries = $state.raw<ElicitationValues>(new Map());
  json = $state('{}');
  #mode = $state<ArgumentsMode>('form');
  #parsed = $derived(parseObject(this.json));
  #isFormWrong = $derived.by(() =>
    this.fields.some((field) => entryProblem(field, this.entries.get(field.field.name))),
  );

  constructor(schema: unknown) {
    this.hasForm = parameterLines(schema).length <= MAX_FIELDS;
    this.fields = this.hasForm ? schemaFields(schema) : [];
    this.entries = entriesOf(this.fields);
    if (!this.hasForm) this.#mode = 'json';
  }

  get mode(): ArgumentsMode {
    return this.#mode;
  }

  /** What was filled in goes along. */
  set mode(next: ArgumentsMode) {
    if (next === this.#mode || !this.hasForm) return;
    if (next === 'json' && !this.#isFormWrong) {
      this.json = JSON.stringify(valuesOf(this.fields, this.entries), null, 2);
    } else if (next === 'form' && this.#parsed) {
      this.entries = entriesOf(this.fields, this.#parsed);
    }
    this.#mode = next;
  }

  /** What would be sent; undefined while something is wrong with it. */
  get value(): Record<string, unknown> | undefined {
    if (this.#mode === 'json') return this.#parsed;
    return this.#isFormWrong ? undefined : valuesOf(this.fields, this.entries);
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() || '{}');
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
