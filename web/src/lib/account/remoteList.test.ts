import { expect, test } from 'vitest';
import { ApiError } from '$lib/api/client';
import { Submission } from './submission.svelte';
import { RemoteList } from './remoteList.svelte';

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
