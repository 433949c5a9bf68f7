import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api, ApiError } from '$lib/api/client';
import { authApi } from '$lib/api/auth';
import type { Account, AuthState } from '$lib/api/types';
import { loadSetting, saveSetting, setStorageAccount } from '$lib/storage';
import { setupCode } from './setupCode.svelte';
import { Session } from './session.svelte';

const account = (id: string, role: Account['role'] = 'user'): Account => ({
  id,
  email: `${id}@example.com`,
  name: id,
  role,
  disabled: false,
  createdAt: 0,
});
const ann = account('ann', 'admin');
const bob = account('bob');

const says = (change: Partial<AuthState>): AuthState => ({
  setup: false,
  setupCode: false,
  signUp: false,
  singleUser: false,
  ...change,
});

let reload: ReturnType<typeof vi.fn<() => void>>;
let stop = () => {};

/** A page whose server answers with these states, the last one for ever. */
async function open(...states: (Partial<AuthState> | Error)[]): Promise<Session> {
  stop();
  let count = 0;
  vi.spyOn(authApi, 'state').mockImplementation(() => {
    const state = states[Math.min(count++, states.length - 1)] ?? {};
    return state instanceof Error ? Promise.reject(state) : Promise.resolve(says(state));
  });
  reload = vi.fn<() => void>();
  const session = new Session(reload);
  stop = session.start();
  await vi.advanceTimersByTimeAsync(0);
  return session;
}

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});
afterEach(() => {
  stop();
  setStorageAccount(undefined);
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test('nobody is inside before the server has said who is here', async () => {
  const session = await open({ setup: true });
  expect([session.inside, session.state?.setup]).toEqual([false, true]);
  session.enter(ann);
  expect([session.inside, session.isAdmin, session.state?.setup]).toEqual([true, true, false]);
});

test('where there are no accounts one person is inside, and nothing has an owner', async () => {
  saveSetting('draft.new', 'hello');
  const session = await open({ singleUser: true, account: ann });
  expect([session.inside, session.isAdmin, session.hasAccount]).toEqual([true, true, false]);
  expect(loadSetting('draft.new')).toBe('hello');
  expect((await open({ singleUser: true, setupCode: true })).inside).toBe(false);
});

const openLink = (code: string) => {
  history.replaceState(null, '', `#setup=${code}`);
  dispatchEvent(new HashChangeEvent('hashchange'));
};
const alone = { singleUser: true, setupCode: true };

test('the link is enough where there is one person, and is used once', async () => {
  openLink('ABC234');
  const setUp = vi.spyOn(authApi, 'setUp').mockResolvedValue(ann);
  const session = await open(alone);
  expect(setUp.mock.calls).toEqual([[{ code: 'ABC234' }]]);
  expect([session.inside, session.state?.setupCode]).toEqual([true, false]);
  await session.look();
  expect(setUp).toHaveBeenCalledOnce();
  expect(session.ended).toBe(true);
  // A new one, opened in the page that is there.
  openLink('XYZ789');
  await vi.advanceTimersByTimeAsync(0);
  expect([session.ended, setUp.mock.calls.length]).toEqual([false, 2]);
});

test('a link that does not let in is told, and one that was not heard is shown again', async () => {
  openLink('ABC234');
  const wrong = new ApiError('wrong_code', 'no', 403);
  const setUp = vi.spyOn(authApi, 'setUp').mockRejectedValueOnce(ApiError.noAnswer('no'));
  setUp.mockRejectedValueOnce(wrong);
  const session = await open(alone);
  expect([session.silent, session.refusal]).toEqual([true, undefined]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([session.silent, session.inside, session.refusal]).toEqual([false, false, wrong]);
  await session.look();
  expect(setUp).toHaveBeenCalledTimes(2);
});

test('who is in already does not use up a link', async () => {
  openLink('ABC234');
  const setUp = vi.spyOn(authApi, 'setUp');
  const session = await open({ singleUser: true, account: ann });
  expect([session.inside, setUp.mock.calls.length]).toEqual([true, 0]);
  setupCode.forget();
});

test('a server that does not answer is asked again', async () => {
  const session = await open(ApiError.noAnswer('no'), ApiError.noAnswer('no'), { account: bob });
  expect([session.silent, session.inside]).toEqual([true, false]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([session.silent, session.inside, session.isAdmin]).toEqual([false, true, false]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(authApi.state).toHaveBeenCalledTimes(3);
});

test('a refusal ends the session when the server does not know the person any more', async () => {
  const session = await open({ account: ann }, {});
  saveSetting('draft.new', 'half a sentence');
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('', { status: 401 })));
  await api.info().catch(() => {});
  await vi.advanceTimersByTimeAsync(0);
  expect([session.ended, session.inside, session.account?.id]).toEqual([true, true, 'ann']);
  session.enter(ann);
  expect([session.ended, loadSetting('draft.new')]).toEqual([false, 'half a sentence']);
  expect(reload).not.toHaveBeenCalled();
});

test('a refusal of something else leaves the session open', async () => {
  const session = await open({ account: ann });
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('', { status: 401 })));
  await api.info().catch(() => {});
  await vi.advanceTimersByTimeAsync(0);
  expect(session.ended).toBe(false);
});

test('for another person the page begins anew, and finds nothing of the former one', async () => {
  const session = await open({ account: ann }, {});
  saveSetting('draft.new', 'a secret');
  await session.look();
  session.enter(bob);
  expect(reload).toHaveBeenCalledOnce();
  expect(session.account?.id).toBe('ann');
  await open({ account: bob });
  expect(loadSetting('draft.new')).toBeUndefined();
});

test('who logs in or out in another tab does so in this one', async () => {
  const session = await open({ account: ann }, {}, { account: ann });
  const elsewhere = () => dispatchEvent(new StorageEvent('storage', { key: 'tenon.account' }));
  elsewhere();
  await vi.advanceTimersByTimeAsync(0);
  expect(session.ended).toBe(true);
  elsewhere();
  await vi.advanceTimersByTimeAsync(0);
  expect(session.ended).toBe(false);
});

test('a role that was taken away is gone at the next look', async () => {
  const session = await open({ account: ann }, { account: { ...ann, role: 'user' } });
  expect(session.isAdmin).toBe(true);
  await session.look();
  expect([session.isAdmin, session.inside]).toEqual([false, true]);
});

test('a role that changes while the server is asked is known in the end', async () => {
  const session = await open({ account: ann });
  let answerLate = (_: AuthState) => {};
  const state = vi.spyOn(authApi, 'state').mockReset();
  state.mockReturnValueOnce(new Promise((resolve) => (answerLate = resolve)));
  state.mockResolvedValue(says({ account: { ...ann, role: 'user' } }));
  const first = session.look();
  const looks = [session.look(), session.look()];
  answerLate(says({ account: ann }));
  await first;
  expect(session.isAdmin).toBe(true);
  await Promise.all(looks);
  expect([session.isAdmin, state.mock.calls.length]).toEqual([false, 2]);
});

/** A question of the server that is answered when the test says so. */
const lateState = () => {
  let answerLate = (_: AuthState) => {};
  vi.spyOn(authApi, 'state').mockReturnValueOnce(new Promise((resolve) => (answerLate = resolve)));
  return (state: Partial<AuthState>) => answerLate(says(state));
};

test('an answer from before a log-in does not end the session it opened', async () => {
  const session = await open({ account: ann }, {}, { account: ann });
  await session.look();
  const answerLate = lateState();
  const look = session.look();
  session.enter(ann);
  answerLate({});
  await look;
  expect([session.ended, session.account?.id]).toEqual([false, 'ann']);
});

test('what was read stays read, whatever the server was asked before', async () => {
  const switchedOff = {
    at: 0,
    servers: ['spy'],
    serverLogIns: 0,
    secrets: 0,
    shares: 0,
    allowedTools: 0,
    localServers: 0,
  };
  const session = await open({ account: ann, switchedOff });
  vi.spyOn(authApi, 'forgetSwitchedOff').mockResolvedValue();
  const answerLate = lateState();
  const look = session.look();
  session.readSwitchedOff();
  answerLate({ account: ann, switchedOff });
  await look;
  expect(session.state?.switchedOff).toBeUndefined();
});

test('who logs out leaves a page that begins anew; who cannot stays', async () => {
  const session = await open({ account: ann });
  const logOut = vi.spyOn(authApi, 'logOut').mockRejectedValueOnce(ApiError.noAnswer('no'));
  await expect(session.logOut()).rejects.toThrow();
  expect(reload).not.toHaveBeenCalled();
  logOut.mockResolvedValueOnce();
  await session.logOut();
  expect(reload).toHaveBeenCalledOnce();
});
