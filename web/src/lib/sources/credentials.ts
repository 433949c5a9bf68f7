// What gets Tenon into an OpenAPI server: one credential for each way of proving who asks that its
// document knows. What is stored is never told again: it is kept, replaced or removed.
import type { CredentialKind, SchemeView } from '$lib/api/types';
import { isAddress } from './address';

export interface Credential {
  /** As the document calls the scheme. */
  name: string;
  kind: CredentialKind | 'other';
  /** The user, or the id of a client. */
  who: string;
  secret: string;
  /** Where a client gets its tokens; empty is where the document says, or what is stored. */
  tokenUrl: string;
  /** What a client asks for, with spaces between; empty as above. */
  scopes: string;
  /** One is stored under this name. */
  stored: boolean;
  now: 'kept' | 'given' | 'removed';
  /** Absent where the document does not know it. */
  scheme?: SchemeView;
}

/** The values of an empty credential. */
export const nothingTyped = { who: '', secret: '', tokenUrl: '', scopes: '' };

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
export function filledCredentials(credentials: readonly Credential[]): Credential[] {
  return credentials.filter((credential) => credential.stored || isGiven(credential));
}

/** The credentials of a new server, as the API takes them. */
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
export function isIncomplete(credential: Credential): boolean {
  const { now, kind, who, secret, stored } = credential;
  if (now !== 'given') return false;
  if (!isGiven(credential)) return stored && kind !== 'other';
  return kind === 'client' && !(who.trim() && secret);
}

/** Where a client would get its tokens is no address. */
export function isLost({ now, kind, tokenUrl }: Credential): boolean {
  return now === 'given' && kind === 'client' && tokenUrl.trim() !== '' && !isAddress(tokenUrl);
}

function isGiven({ now, kind, who, secret, tokenUrl, scopes }: Credential): boolean {
  if (now !== 'given' || kind === 'other') return false;
  if (secret !== '') return true;
  const besides = { key: [], basic: [who], client: [who, tokenUrl, scopes] }[kind];
  return besides.some((text) => text.trim() !== '');
}

function written({ kind, who, secret, ...given }: Credential): object {
  if (kind === 'basic') return { type: 'basic', user: who.trim(), password: secret };
  if (kind !== 'client') return { type: 'key', value: secret };
  const tokenUrl = given.tokenUrl.trim();
  const scopes = given.scopes.trim().replace(/\s+/g, ' ');
  return {
    type: 'client',
    id: who.trim(),
    secret,
    ...(tokenUrl && { tokenUrl }),
    ...(scopes && { scopes }),
  };
}

function kindOf({ kind }: SchemeView): Credential['kind'] {
  return kind.type === 'bearer' ? 'key' : kind.type;
}

function empty(name: string, kind: Credential['kind']): Credential {
  return { name, kind, ...nothingTyped, stored: false, now: 'given' };
}
