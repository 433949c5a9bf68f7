import type { ErrorDetail } from './types';

/** The same for two errors of one code with the same parameters. */
export function errorKey({
  code,
  message,
  params,
}: Pick<ErrorDetail, 'code' | 'message' | 'params'>): string {
  // What `other` has to say is in its message alone.
  return JSON.stringify(code === 'other' ? [code, message] : [code, params]);
}
