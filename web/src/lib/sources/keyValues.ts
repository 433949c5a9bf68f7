// Names and values, row by row, as headers and variables are entered.

/** A name and its value. What is kept is stored, and not known here. */
export interface KeyValue {
  name: string;
  value: string;
  kept: boolean;
  /** It came from the server, which shows nothing that is secret. */
  open?: boolean;
}

export function keyValuesOf(values: Record<string, string | null>): KeyValue[] {
  return Object.entries(values).map(([name, value]) => ({
    name,
    value: value ?? '',
    kept: value === null,
    ...(value !== null && { open: true }),
  }));
}

const isEmpty = ({ name, value, kept }: KeyValue) => !name.trim() && !value && !kept;

/** All of them from now on; null keeps what is stored. */
export function hiddenOf(pairs: readonly KeyValue[]): Record<string, string | null> {
  const given = pairs.filter((pair) => !isEmpty(pair));
  return Object.fromEntries(
    given.map(({ name, value, kept }) => [name.trim(), kept ? null : value]),
  );
}

/** Those that are known here. */
export function valuesOf(pairs: readonly KeyValue[]): Record<string, string> {
  const given = pairs.filter((pair) => !isEmpty(pair) && !pair.kept);
  return Object.fromEntries(given.map(({ name, value }) => [name.trim(), value]));
}

export function invalidKeyValues(
  pairs: readonly KeyValue[],
  { ignoreCase = false } = {},
): 'unnamed' | 'twice' | undefined {
  const given = pairs.filter((pair) => !isEmpty(pair));
  const names = given.map(({ name }) => (ignoreCase ? name.trim().toLowerCase() : name.trim()));
  if (names.includes('')) return 'unnamed';
  return new Set(names).size < names.length ? 'twice' : undefined;
}
