// Addresses of the API that stand in links and frames.

export function blobPath(id: string): string {
  return `/api/blobs/${encodeURIComponent(id)}`;
}

/** A page without network, cookies and origin that shows the HTML it is sent. */
export const PREVIEW_PATH = '/api/preview';

/** A picture from the web, fetched by the server: its host sees no reader. */
export function webImagePath(url: string): string {
  return `/api/image?url=${encodeURIComponent(url)}`;
}

/** A file of the person who asks. */
export function filePath(id: string): string {
  return `/api/files/${encodeURIComponent(id)}`;
}

/** A file of a shared chat, for whoever has its link. */
export function sharedFilePath(token: string, id: string): string {
  return `/api/shared/${encodeURIComponent(token)}/files/${encodeURIComponent(id)}`;
}

/** Where the browser starts an OIDC log-in. */
export const ISSUER_PATH = '/api/auth/oidc/start';

/** Where a logged-in person re-authenticates by OIDC; they come back to this place. */
export const issuerPathFrom = (place: string) => `${ISSUER_PATH}?back=${encodeURIComponent(place)}`;
