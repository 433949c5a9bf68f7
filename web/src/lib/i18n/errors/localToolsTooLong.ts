import type { ErrorDetail } from '$lib/api/types';

/** As the server says it of what it did get: the page itself finds it out of what it does not
    send. */
export const localToolsTooLong = (mib: number): ErrorDetail => ({
  code: 'local_tools_too_long',
  message: `The description of its tools is longer than ${mib} MiB.`,
  params: { mib: String(mib) },
});
