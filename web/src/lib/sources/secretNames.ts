// Variables of a configuration that are not set yet.

/** `user.TOKEN` is this person's own TOKEN, everything else is everybody's. */
export function secretNamed(variable: string): { name: string; mine: boolean } {
  const own = /^user\.(.+)$/.exec(variable)?.[1];
  return own === undefined ? { name: variable, mine: false } : { name: own, mine: true };
}

/** What is wrong with the name of a secret, as the server has it. */
export function wrongSecretName(name: string): 'missing' | 'bad' | 'own' | undefined {
  if (!name) return 'missing';
  if (!/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(name)) return 'bad';
  return name.startsWith('user.') ? 'own' : undefined;
}

/** Those that this person may set, each once. */
export function settable(variables: readonly string[], isAdmin: boolean): string[] {
  return [...new Set(variables)].filter((variable) => isAdmin || secretNamed(variable).mine);
}
