import type { ErrorDetail } from '$lib/api/types';

/** An error whose words do not matter to a test. */
export const errorDetail = (message: string, code = 'other'): ErrorDetail => ({
  code,
  message,
  params: {},
});
