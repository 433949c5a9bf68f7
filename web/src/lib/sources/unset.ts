// Variables of a configuration that nobody has set yet.

/** `user.TOKEN` is this person's own TOKEN, everything else is everybody's. */
export function secretNamed(variable: string): { name: string; mine: boolean } {
  const own = /^user\.(.+)$/.exec(variable)?.[1];
  return own === undefined ? { name: variable, mine: false } : { name: own, mine: true };
}

/** Those that the reason of a failure names: Nobody has set `${TOKEN}`. */
export function unsetIn(why: string): string[] {
  return [...new Set([...why.matchAll(/`\$\{([^}]+)\}`/g)].map(([, name = '']) => name))];
}

/** Those that this person may set, each once. */
export function settable(variables: readonly string[], isAdmin: boolean): string[] {
  return [...new Set(variables)].filter((variable) => isAdmin || secretNamed(variable).mine);
}
