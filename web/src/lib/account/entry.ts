// The form at the door: what it asks for on each way in, what is wrong with it,
// and which of its fields a refusal of the server is about.
import type { ApiError } from '$lib/api/client';

/** The first account, an old one, a new one where everybody may, a new one by invitation, and
    none at all, where Tenon is one person's. */
export type Way = 'setup' | 'logIn' | 'signUp' | 'invite' | 'alone';

export interface Entry {
  name: string;
  email: string;
  password: string;
  code: string;
}

export type EntryField = keyof Entry;
export type EntryProblem = 'missing' | 'notEmail' | 'shortPassword';

/** As the server has it, which counts characters and not bytes. */
export const SHORTEST_PASSWORD = 8;

export function fieldsOf(way: Way, needsCode: boolean): EntryField[] {
  if (way === 'alone') return ['code'];
  if (way === 'logIn') return ['email', 'password'];
  return ['name', 'email', 'password', ...(way === 'setup' && needsCode ? ['code' as const] : [])];
}

export function problemsOf(
  entry: Entry,
  way: Way,
  needsCode: boolean,
): Partial<Record<EntryField, EntryProblem>> {
  const problems: Partial<Record<EntryField, EntryProblem>> = {};
  for (const field of fieldsOf(way, needsCode)) {
    // Spaces may be part of a password.
    const text = field === 'password' ? entry.password : entry[field].trim();
    if (!text) problems[field] = 'missing';
    else if (field === 'email' && !isEmail(text)) problems.email = 'notEmail';
    // An old password is right or wrong, however long it is.
    else if (field === 'password' && way !== 'logIn' && isShort(text)) {
      problems.password = 'shortPassword';
    }
  }
  return problems;
}

/** Whether it could be one. Only a message to it could tell. */
export function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}

export function isShort(password: string): boolean {
  return [...password].length < SHORTEST_PASSWORD;
}

const atFault: Partial<Record<string, EntryField>> = {
  wrong_code: 'code',
  email_taken: 'email',
  wrong_email: 'email',
};

/** The field that the server would not have; none where it is about the whole. */
export function fieldAtFault({ code }: ApiError): EntryField | undefined {
  return atFault[code];
}
