/** Rows of fields as RFC 4180 has them. */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((fields) => `${fields.map(csvField).join(',')}\r\n`).join('');
}

function csvField(text: string): string {
  // A spreadsheet would run what begins like a formula. A negative number is none.
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
