// The part of the server's door that opens to everybody: who is here, and how one gets in.
import { request } from './client';
import type { Account, AuthState, Invitation, LogIn, Setup, SignUp } from './types';

/** A password is hashed slowly on purpose, and one after the other when many come at once. */
const HASHING_MS = 30_000;

export const entrance = {
  state: () => request<AuthState>('GET', '/api/auth/state'),
  setUp: (setup: Setup) => request<Account>('POST', '/api/auth/setup', setup, HASHING_MS),
  logIn: (logIn: LogIn) => request<Account>('POST', '/api/auth/login', logIn, HASHING_MS),
  signUp: (signUp: SignUp) => request<Account>('POST', '/api/auth/sign-up', signUp, HASHING_MS),
  logOut: () => request<void>('POST', '/api/auth/logout'),
  forgetSwitchedOff: () => request<void>('DELETE', '/api/auth/switched-off'),
  invitation: (token: string) =>
    request<Invitation>('GET', `/api/auth/invites/${encodeURIComponent(token)}`),
};

/** Where the browser goes to log in with another house. */
export const ISSUER_PATH = '/api/auth/oidc/start';

/** Where somebody who is in goes to prove it once more; they come back to this place. */
export const issuerPathFrom = (place: string) => `${ISSUER_PATH}?back=${encodeURIComponent(place)}`;
