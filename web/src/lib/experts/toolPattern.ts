/** Whether a tool's id fits one of these patterns, in which `*` stands for any characters. */
export function matchesAny(patterns: readonly string[], toolId: string): boolean {
  return patterns.some((pattern) => {
    const escaped = pattern.replace(/[^\w*]/g, '\\$&').replaceAll('*', '.*');
    return new RegExp(`^${escaped}$`).test(toolId);
  });
}
