// What gets Tenon into an OpenAPI server: one credential for each way of proving who asks that its
// document knows. What is stored is never told again: it is kept, replaced or removed.
import type { CredentialKind, SchemeView } from '$lib/api/types';

export interface Credential {
  /** As the document calls the scheme. */
  name: string;
  kind: CredentialKind | 'other';
  /** The user, or the id of a client. */
  who: string;
  secret: string;
  /** One is stored under this name. */
  stored: boolean;
  now: 'kept' | 'given' | 'removed';
  /** Absent where the document does not know it. */
  scheme?: SchemeView;
}

/** Those that are stored, and what the document asks for besides. */
export function credentialsFor(
  stored: Record<string, CredentialKind>,
  schemes: readonly SchemeView[],
): Credential[] {
  const kept = Object.entries(stored).map(([name, kind]): Credential => ({
    ...empty(name, kind),
    stored: true,
    now: 'kept',
  }));
  return withSchemes(kept, schemes);
}

/** As a document has them now: what was entered stays where its scheme is still there, and what is
    stored stays in any case. */
export function withSchemes(
  credentials: readonly Credential[],
  schemes: readonly SchemeView[],
): Credential[] {
  // Servers behind one mcpo may all have one of the same name.
  const byName = new Map<string, SchemeView>();
  for (const scheme of schemes) if (!byName.has(scheme.name)) byName.set(scheme.name, scheme);
  const asked = [...byName.values()].map((scheme): Credential => {
    const kind = kindOf(scheme);
    const old = credentials.find(({ name }) => name === scheme.name);
    return old && (old.stored || old.kind === kind)
      ? { ...old, kind, scheme }
      : { ...empty(scheme.name, kind), scheme };
  });
  const strange = credentials
    .filter(({ name, stored }) => stored && !byName.has(name))
    .map(({ scheme: _scheme, ...rest }) => rest);
  return [...asked, ...strange];
}

/** Without those that only a document that was looked at has asked for. */
export function entered(credentials: readonly Credential[]): Credential[] {
  return credentials.filter((credential) => credential.stored || isGiven(credential));
}

/** What is told of new ones. */
export function givenCredentials(credentials: readonly Credential[]): Record<string, unknown> {
  return Object.fromEntries(
    credentials.filter(isGiven).map((credential) => [credential.name, written(credential)]),
  );
}

/** All of them from now on; null keeps what is stored. */
export function allCredentials(credentials: readonly Credential[]): Record<string, unknown> {
  return Object.fromEntries(
    credentials
      .filter((credential) => credential.now === 'kept' || isGiven(credential))
      .map((credential) => [
        credential.name,
        credential.now === 'kept' ? null : written(credential),
      ]),
  );
}

/** Who replaces something says by what. A user may have no password, but a client has both. */
export function isHalf(credential: Credential): boolean {
  const { now, kind, who, secret, stored } = credential;
  if (now !== 'given') return false;
  if (!isGiven(credential)) return stored && kind !== 'other';
  return kind === 'client' && !(who.trim() && secret);
}

function isGiven({ now, kind, who, secret }: Credential): boolean {
  if (now !== 'given' || kind === 'other') return false;
  return secret !== '' || (kind !== 'key' && who.trim() !== '');
}

function written({ kind, who, secret }: Credential): object {
  if (kind === 'basic') return { type: 'basic', user: who.trim(), password: secret };
  if (kind === 'client') return { type: 'client', id: who.trim(), secret };
  return { type: 'key', value: secret };
}

function kindOf({ kind }: SchemeView): Credential['kind'] {
  return kind.type === 'bearer' ? 'key' : kind.type;
}

function empty(name: string, kind: Credential['kind']): Credential {
  return { name, kind, who: '', secret: '', stored: false, now: 'given' };
}
