import type { SourceState, ToolView } from '$lib/api/types';

/** Whether a call to one of its tools has a chance. */
export function canBeCalled({ state }: Pick<SourceState, 'state'>): boolean {
  return state !== 'failed' && state !== 'off' && state !== 'offline';
}

/** Whether the next message may use it. */
export function isOn({
  enabled,
  policy,
  source,
}: Pick<ToolView, 'enabled' | 'policy' | 'source'>): boolean {
  return enabled && policy !== 'deny' && canBeCalled(source);
}
