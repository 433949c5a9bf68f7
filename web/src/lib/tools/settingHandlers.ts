// What the lists of tools tell when somebody switches or decides something there.
import type { Policy, SourceId, ToolId } from '$lib/api/types';

/** Whom a policy is set for: all chats of one person, or everybody. */
export type PolicyLayer = 'user' | 'organisation';

/** With a source: of all that it has and will have. */
export type SwitchTools = (toolIds: ToolId[], on: boolean, source?: SourceId) => void;

/** Null takes back what was said. With a source: for all that it has and will have. */
export type SetPolicy = (
  toolIds: ToolId[],
  policy: Policy | null,
  layer: PolicyLayer,
  source?: SourceId,
) => void;
