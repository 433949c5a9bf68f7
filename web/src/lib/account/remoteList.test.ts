import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '$lib/api/client';
import { Submission } from './submission.svelte';
import { accountChanges } from './events';
import { RemoteList } from './remoteList.svelte';

afterEach(() => {
  vi.useRealTimers();
});

test('a list that cannot be had says why, and keeps what it had', async () => {
  let answer: () => Promise<string[]> = () => Promise.resolve(['a']);
  const list = new RemoteList(() => answer());
  await list.refresh();
  expect([list.items, list.loaded, list.problem]).toEqual([['a'], true, '']);
  answer = () => Promise.reject(ApiError.noAnswer('no'));
  await list.refresh();
  expect([list.items, list.problem]).toEqual([
    ['a'],
    'Tenon does not answer. Is it running? Try again.',
  ]);
  answer = () => Promise.resolve([]);
  await list.refresh();
  expect([list.items, list.problem]).toEqual([[], '']);
});

test('an answer that was overtaken is not believed', async () => {
  const answers: ((items: string[]) => void)[] = [];
  const list = new RemoteList<string>(() => new Promise((resolve) => answers.push(resolve)));
  const both = [list.refresh(), list.refresh()];
  answers[1]?.(['new']);
  answers[0]?.(['old']);
  await Promise.all(both);
  expect(list.items).toEqual(['new']);
});

test('a change whose read fails is not lost', async () => {
  vi.useFakeTimers();
  let answer: () => Promise<string[]> = () => Promise.resolve(['a']);
  const list = new RemoteList(() => answer());
  const stop = list.start();
  await vi.advanceTimersByTimeAsync(0);
  answer = () => Promise.reject(new ApiError('busy', 'Later.', 503));
  accountChanges.emit();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([list.items, list.problem]).toEqual([['a'], 'Later.']);
  answer = () => Promise.resolve(['a', 'b']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([list.items, list.problem]).toEqual([['a', 'b'], '']);
  stop();
});

test('what is put while a list is on its way is kept, and so is what that list knew', async () => {
  vi.useFakeTimers();
  const [a, b] = [{ id: 'a' }, { id: 'b' }];
  const answers: ((items: { id: string }[]) => void)[] = [];
  const list = new RemoteList<{ id: string }>(
    () => new Promise((resolve) => answers.push(resolve)),
  );
  const asked = list.refresh();
  list.put(a);
  answers[0]?.([b]);
  await asked;
  expect(list.items).toEqual([a]);
  await vi.advanceTimersByTimeAsync(1_000);
  answers[1]?.([a, b]);
  await vi.advanceTimersByTimeAsync(0);
  expect(list.items).toEqual([a, b]);
});

test('what is under way is not done twice, and what failed is told in known words', async () => {
  const submission = new Submission();
  let finish = () => {};
  const first = submission.run(() => new Promise<void>((resolve) => (finish = resolve)));
  expect(await submission.run(() => Promise.resolve())).toBe(false);
  finish();
  expect(await first).toBe(true);
  const error = new ApiError('email_taken', 'It is taken.', 409, undefined, {}, 'email');
  expect(await submission.run(() => Promise.reject(error))).toBe(false);
  expect([submission.code, submission.field, submission.busy]).toEqual([
    'email_taken',
    'email',
    false,
  ]);
  expect(submission.problem).toBe('It is taken.');
});
