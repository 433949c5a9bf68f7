// The browsers that run this person's tools.
import { request } from './client';
import type { McpoServer, DeviceView, LocalEndpoint, McpoDiscoveryRequest } from './types';

export const devices = {
  all: () => request<DeviceView[]>('GET', '/api/devices'),
  forget: (id: string) => request<void>('DELETE', `/api/devices/${encodeURIComponent(id)}`),
  /** The servers behind an mcpo. */
  behind: (asked: McpoDiscoveryRequest) =>
    request<McpoServer[]>('POST', '/api/devices/behind', asked),
  /** What is kept in the account; null where nothing ever was. */
  endpoints: () => request<LocalEndpoint[] | null>('GET', '/api/devices/endpoints'),
  keepEndpoints: (endpoints: readonly LocalEndpoint[]) =>
    request<void>('PUT', '/api/devices/endpoints', endpoints),
};
