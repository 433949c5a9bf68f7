// What a person enters about an address, and what is made of it.
import type { EndpointKind, LocalEndpoint } from '$lib/api/types';
import { canonicalUrl, normalizedUrl, readAddress } from './address';
import type { Key } from './endpoints.svelte';

export interface AddressFields {
  address: string;
  kind: EndpointKind;
  name: string;
  /** Empty where the present one stays. */
  key: string;
  header: string;
}

export type AddressProblem = 'missing' | 'notAddress' | 'twice' | 'notHeader';

export const DEFAULT_HEADER = 'Authorization';

/** `address` is one to begin with, where there is none yet. */
export function addressFields(
  endpoint: LocalEndpoint | undefined,
  key: Key | undefined,
  address = '',
): AddressFields {
  return {
    address: endpoint?.url ?? address,
    kind: endpoint?.kind ?? 'auto',
    name: endpoint?.name ?? '',
    key: '',
    header: key?.header ?? DEFAULT_HEADER,
  };
}

/** `others` are the addresses in the list, however they are spelled. */
export function addressProblems(
  { address, header }: AddressFields,
  others: readonly string[],
): { address?: AddressProblem; header?: AddressProblem } {
  const url = readAddress(address);
  const wrong = !address.trim()
    ? 'missing'
    : !url
      ? 'notAddress'
      : others.some((other) => canonicalUrl(other) === canonicalUrl(url.href))
        ? 'twice'
        : undefined;
  return {
    ...(wrong && { address: wrong }),
    ...(!/^[\w!#$%&'*+.^`|~-]*$/.test(header.trim()) && { header: 'notHeader' }),
  };
}

export function endpointOf(fields: AddressFields, enabled: boolean): LocalEndpoint | undefined {
  const url = readAddress(fields.address);
  return url && { url: normalizedUrl(url), kind: fields.kind, name: fields.name.trim(), enabled };
}

/** The key that goes along from now on; undefined for none. One that was entered for another
    server does not go to this one. */
export function keyOf(
  fields: AddressFields,
  before: { url: string; key: Key | undefined } | undefined,
): Key | undefined {
  const header = fields.header.trim() || DEFAULT_HEADER;
  const value = fields.key.trim();
  if (value) return { header, value: withScheme(header, value) };
  const same = before?.key && isSameServer(fields.address, before.url);
  return same ? { header, value: before.key?.value ?? '' } : undefined;
}

export function isSameServer(address: string, url: string): boolean {
  return readAddress(address)?.origin === new URL(url).origin;
}

/** In the usual header a key alone is one of a bearer. */
function withScheme(header: string, value: string): string {
  return header.toLowerCase() === 'authorization' && !/\s/.test(value) ? `Bearer ${value}` : value;
}
