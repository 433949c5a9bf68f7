// What is true of several tools at once.
import type { Policy, ToolView } from '$lib/api/types';

/** The organisation does not allow it, and nobody can say otherwise. */
export function isForbidden({ policy, policyBy }: Pick<ToolView, 'policy' | 'policyBy'>): boolean {
  return policy === 'deny' && policyBy === 'organisation';
}

/** Whether its policy is that of its source: then there is none of its own to take back. */
export function followsSource({
  policy,
  policyBy,
  source,
}: Pick<ToolView, 'policy' | 'policyBy' | 'source'>): boolean {
  const { decided } = source;
  return decided !== undefined && decided.by === policyBy && decided.policy === policy;
}

/** Whether they are switched on; those that are forbidden do not count. */
export function switchState(
  tools: readonly Pick<ToolView, 'enabled' | 'policy' | 'policyBy'>[],
): boolean | 'mixed' {
  const usable = tools.filter((tool) => !isForbidden(tool));
  const on = usable.filter(({ enabled }) => enabled).length;
  if (on === 0) return false;
  return on === usable.length ? true : 'mixed';
}

export function commonPolicy(tools: readonly Pick<ToolView, 'policy'>[]): Policy | 'mixed' {
  const policies = new Set(tools.map(({ policy }) => policy));
  const [policy = 'ask'] = policies;
  return policies.size > 1 ? 'mixed' : policy;
}

/** About how many tokens it takes to tell a model of them. */
export function tokensOf(tools: readonly Pick<ToolView, 'tokens'>[]): number {
  return tools.reduce((sum, { tokens }) => sum + tokens, 0);
}
