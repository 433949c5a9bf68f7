// The public part of the auth API: who is logged in, and logging in.
import { request } from './client';
import type { Account, AuthState, Invitation, LogIn, Setup, SignUp } from './types';

/** Password hashing is slow on purpose, and serialised under load. */
const PASSWORD_TIMEOUT_MS = 30_000;

export const authApi = {
  state: () => request<AuthState>('GET', '/api/auth/state'),
  setUp: (setup: Setup) => request<Account>('POST', '/api/auth/setup', setup, PASSWORD_TIMEOUT_MS),
  logIn: (logIn: LogIn) => request<Account>('POST', '/api/auth/login', logIn, PASSWORD_TIMEOUT_MS),
  signUp: (signUp: SignUp) =>
    request<Account>('POST', '/api/auth/sign-up', signUp, PASSWORD_TIMEOUT_MS),
  logOut: () => request<void>('POST', '/api/auth/logout'),
  forgetSwitchedOff: () => request<void>('DELETE', '/api/auth/switched-off'),
  invitation: (token: string) =>
    request<Invitation>('GET', `/api/auth/invites/${encodeURIComponent(token)}`),
};
