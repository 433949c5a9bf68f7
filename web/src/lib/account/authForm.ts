// The log-in, sign-up and set-up form: its fields in each mode, their validation, and the field
// that a server error is about.
import type { ApiError } from '$lib/api/client';

/** The first account, log-in, open sign-up, sign-up by invitation, and single-user mode. */
export type AuthMode = 'setup' | 'logIn' | 'signUp' | 'invite' | 'singleUser';

export interface AuthEntry {
  name: string;
  email: string;
  password: string;
  code: string;
}

export type AuthField = keyof AuthEntry;
export type AuthProblem = 'missing' | 'notEmail' | 'shortPassword';

/** As the server has it, which counts characters and not bytes. */
export const MIN_PASSWORD_LENGTH = 8;

export function authFields(mode: AuthMode, needsCode: boolean): AuthField[] {
  if (mode === 'singleUser') return ['code'];
  if (mode === 'logIn') return ['email', 'password'];
  return ['name', 'email', 'password', ...(mode === 'setup' && needsCode ? ['code' as const] : [])];
}

export function authProblems(
  entry: AuthEntry,
  mode: AuthMode,
  needsCode: boolean,
): Partial<Record<AuthField, AuthProblem>> {
  const problems: Partial<Record<AuthField, AuthProblem>> = {};
  for (const field of authFields(mode, needsCode)) {
    // Spaces may be part of a password.
    const text = field === 'password' ? entry.password : entry[field].trim();
    if (!text) problems[field] = 'missing';
    else if (field === 'email' && !isEmail(text)) problems.email = 'notEmail';
    // An old password is right or wrong, however long it is.
    else if (field === 'password' && mode !== 'logIn' && isTooShort(text)) {
      problems.password = 'shortPassword';
    }
  }
  return problems;
}

/** Whether it could be one. Only a message to it could tell. */
export function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}

export function isTooShort(password: string): boolean {
  return [...password].length < MIN_PASSWORD_LENGTH;
}

/** The field that the server would not have; none where it is about the whole. */
export function authFieldOfError(
  { field }: Pick<ApiError, 'field'>,
  fields: readonly AuthField[],
): AuthField | undefined {
  return fields.find((name) => name === field);
}
