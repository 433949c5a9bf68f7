// Addresses of the API that stand in links and frames.

export function blobPath(id: string): string {
  return `/api/blobs/${encodeURIComponent(id)}`;
}

/** Where the browser starts an OIDC log-in. */
export const ISSUER_PATH = '/api/auth/oidc/start';

/** Where a logged-in person re-authenticates by OIDC; they come back to this place. */
export const issuerPathFrom = (place: string) => `${ISSUER_PATH}?back=${encodeURIComponent(place)}`;
