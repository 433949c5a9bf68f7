// An array of objects as a table.
import { csvText } from '$lib/format/csv';
import { isObject, type JsonObject } from './json';

export interface JsonTable {
  columns: readonly string[];
  rows: readonly JsonObject[];
  /** Some rows have more than what is shown. */
  hasMoreColumns: boolean;
}

/** More cannot be read side by side. */
const MAX_COLUMNS = 40;
/** Columns are looked for in so many rows; later ones rarely have others. */
const ROWS_READ = 200;

/** Absent where the value is no array of objects, alone or as the only array in an object. */
export function jsonTable(value: unknown): JsonTable | undefined {
  const rows = rowsOf(value);
  if (!rows) return undefined;
  const names = new Set(rows.slice(0, ROWS_READ).flatMap((row) => Object.keys(row)));
  if (names.size === 0) return undefined;
  const columns = [...names].slice(0, MAX_COLUMNS);
  return { columns, rows, hasMoreColumns: names.size > columns.length };
}

export function tableCsv({ columns, rows }: JsonTable): string {
  const lines = rows.map((row) => columns.map((name) => cellText(row[name])));
  return csvText([columns, ...lines]);
}

/** Nothing is an empty cell; what is nested is JSON. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function rowsOf(value: unknown): readonly JsonObject[] | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isObject) ? value : undefined;
  if (!isObject(value)) return undefined;
  const arrays = Object.values(value).filter((child) => Array.isArray(child));
  return arrays.length === 1 ? rowsOf(arrays[0]) : undefined;
}
