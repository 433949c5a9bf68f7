import type { SourceState } from '$lib/api/types';

/** Whether a call to one of its tools has a chance. */
export function canBeCalled({ state }: Pick<SourceState, 'state'>): boolean {
  return state !== 'failed' && state !== 'off';
}
