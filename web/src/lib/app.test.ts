import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { api, ApiError } from './api/client';
import type { ChatSummary, ServerFrame } from './api/types';
import { app } from './app.svelte';
import { UNDO_MS } from './chat/list.svelte';
import { modelView } from './models/story';
import { router } from './router.svelte';
import { recall, remember } from './storage';
import { toasts } from './ui/toasts.svelte';

const lost = ApiError.noAnswer('Failed to fetch');
const chat = (id: string): ChatSummary => ({ id, title: id, createdAt: 0, updatedAt: 0 });
const started = (chatId: string, seq: number, text: string): ServerFrame => ({
  type: 'event',
  chatId,
  seq,
  at: 0,
  body: {
    type: 'turnStarted',
    turnId: `t${seq}`,
    message: {
      id: `m${seq}`,
      chatId,
      turnId: `t${seq}`,
      role: 'user',
      parts: [{ type: 'text', text }],
      createdAt: 0,
    },
  },
});

/** As the page does when its address changes. */
function visit(chatId: string | undefined) {
  router.replace(chatId ? { name: 'chat', chatId } : { name: 'new' });
  app.open(chatId);
}

/** A call that is answered when the test says so. */
function later<Value>() {
  let resolve = (_: Value) => {};
  let reject = (_: unknown) => {};
  const promise = new Promise<Value>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  visit('elsewhere');
});
afterEach(async () => {
  await vi.advanceTimersByTimeAsync(2 * UNDO_MS);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('nothing is sent while it is not known which tools are on', async () => {
  remember('tools-off.a', 'y');
  visit('a');
  vi.spyOn(api, 'tools').mockRejectedValue(lost);
  const startTurn = vi.spyOn(api, 'startTurn');
  app.draft.text = 'hello';
  await app.send();
  expect(startTurn).not.toHaveBeenCalled();
  expect(app.draft.text).toBe('hello');
  expect(toasts.shown.map(({ text }) => text)).toEqual(['Not sent: Tenon does not answer.']);
});

test('going back to a deleted chat keeps it', async () => {
  const deleteChat = vi.spyOn(api, 'deleteChat').mockResolvedValue();
  app.remove('a', 'A');
  expect(toasts.shown).toHaveLength(1);
  visit('a');
  expect(toasts.shown).toEqual([]);
  await vi.advanceTimersByTimeAsync(2 * UNDO_MS);
  expect(deleteChat).not.toHaveBeenCalled();
});

test('a chat that is gone leaves nothing behind in the browser', async () => {
  remember('draft.a', 'hello');
  remember('tools-off.a', 'y');
  remember('model.a', '{"id":"x","name":"X"}');
  vi.spyOn(api, 'deleteChat').mockResolvedValue();
  app.remove('a', 'A');
  expect(recall('draft.a')).toBe('hello');
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(['draft.a', 'tools-off.a', 'model.a'].map(recall)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('a reader who leaves while a chat is being made is left in peace', async () => {
  const made = later<ChatSummary>();
  vi.spyOn(api, 'createChat').mockReturnValue(made.promise);
  const startTurn = vi.spyOn(api, 'startTurn').mockResolvedValue({ turnId: 't1' });
  visit(undefined);
  app.draft.text = 'hello';
  const sent = app.send();
  visit('b');
  expect(app.conversation.sending).toBeUndefined();
  app.draft.text = 'for b';
  made.resolve(chat('a'));
  await sent;
  expect(startTurn).toHaveBeenCalledExactlyOnceWith('a', {
    text: 'hello',
    toolIds: undefined,
    modelId: undefined,
  });
  expect(router.chatId).toBe('b');
  expect(app.draft.text).toBe('for b');
  expect([recall('draft.new'), recall('draft.a'), recall('draft.b')]).toEqual([
    undefined,
    undefined,
    'for b',
  ]);
});

test('a reader who stays goes along to the chat that was made', async () => {
  vi.spyOn(api, 'createChat').mockResolvedValue(chat('a'));
  vi.spyOn(api, 'startTurn').mockResolvedValue({ turnId: 't1' });
  visit(undefined);
  app.draft.text = 'hello';
  await app.send();
  expect(router.chatId).toBe('a');
  expect(app.conversation.sending?.text).toBe('hello');
});

test('a message given up for lost leaves the field when its turn appears', async () => {
  vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
  visit('a');
  app.take(started('a', 1, 'hello'));
  app.draft.text = 'hello';
  await app.send();
  expect(app.draft.text).toBe('hello');
  app.take(started('a', 1, 'hello'));
  expect(app.draft.text).toBe('hello');
  app.take(started('a', 2, 'hello'));
  expect(app.draft.text).toBe('');
  expect(recall('draft.a')).toBeUndefined();
});

test('a message whose turn was seen is not lost, whatever became of the answer', async () => {
  const answer = later<{ turnId: string }>();
  vi.spyOn(api, 'startTurn').mockReturnValue(answer.promise);
  visit('a');
  app.draft.text = 'hello';
  const sent = app.send();
  await vi.advanceTimersByTimeAsync(0);
  app.take(started('a', 1, 'hello'));
  answer.reject(lost);
  await sent;
  expect(app.draft.text).toBe('');
  expect(recall('draft.a')).toBeUndefined();
  expect(toasts.shown).toEqual([]);
});

describe('the model of a chat', () => {
  const list = async (...ids: string[]) => {
    vi.spyOn(api, 'endpoints').mockResolvedValue([]);
    vi.spyOn(api, 'models').mockResolvedValue(
      ids.map((id) => modelView(id, { isDefault: id === ids[0] })),
    );
    await app.models.refresh();
  };

  test('is told to the server when it was picked, for the chat it was picked in', async () => {
    await list('gpt', 'llama');
    const startTurn = vi.spyOn(api, 'startTurn').mockResolvedValue({ turnId: 't1' });
    vi.spyOn(api, 'createChat').mockResolvedValue(chat('a'));
    visit(undefined);
    app.models.pick({ id: 'llama', name: 'Llama' });
    const sent = app.send('hello');
    visit('b');
    await sent;
    expect(startTurn.mock.calls[0]?.[1].modelId).toBe('llama');
    await app.send('hello');
    expect(startTurn.mock.calls[1]?.[1].modelId).toBeUndefined();
    visit('a');
    expect(app.choice.model?.id).toBe('llama');
  });

  test('that is gone is replaced by the default, which stands until somebody accepts it', async () => {
    await list('gpt');
    remember('model.a', JSON.stringify({ id: 'llama', name: 'Llama' }));
    visit('a');
    const missing = { id: 'llama', name: 'Llama' };
    expect(app.choice).toMatchObject({ model: { id: 'gpt' }, missing });
    expect(app.missing).toBeUndefined();
    await app.lookAgainFor(missing);
    expect(app.missing).toEqual(missing);
    const startTurn = vi.spyOn(api, 'startTurn').mockResolvedValue({ turnId: 't1' });
    await app.send('hello');
    expect(startTurn.mock.calls[0]?.[1].modelId).toBeUndefined();
    expect([app.missing, recall('model.a')]).toEqual([undefined, undefined]);
  });

  test('of this computer is not replaced by one elsewhere unasked', async () => {
    await list('gpt');
    remember('model.d', JSON.stringify({ id: 'ollama:llama', name: 'Llama' }));
    visit('d');
    const startTurn = vi.spyOn(api, 'startTurn').mockResolvedValue({ turnId: 't1' });
    app.draft.text = 'a secret';
    await app.send();
    expect(startTurn).not.toHaveBeenCalled();
    expect(app.draft.text).toBe('a secret');
    app.models.pick({ id: 'gpt', name: 'gpt' });
    await app.send();
    expect(startTurn.mock.calls[0]?.[1].modelId).toBe('gpt');
  });

  test('that somebody deleted is not said to be gone', async () => {
    await list('gpt');
    remember('model.e', JSON.stringify({ id: 'mine', name: 'Mine' }));
    visit('e');
    vi.spyOn(api, 'deleteModel').mockResolvedValue();
    await app.removeModel('mine');
    await app.lookAgainFor({ id: 'mine', name: 'Mine' });
    expect([app.missing, app.models.picked]).toEqual([undefined, undefined]);
  });

  test('list that cannot be had says why, until it can', async () => {
    await list('gpt');
    expect(app.modelsProblem).toBe('');
    vi.spyOn(api, 'models').mockRejectedValue(lost);
    await app.models.refresh().catch(() => {});
    expect(app.modelsProblem).toBe('Tenon does not answer.');
    await list('gpt');
    expect(app.modelsProblem).toBe('');
  });

  test('that is only slow to appear is not said to be gone', async () => {
    await list('gpt');
    remember('model.slow', JSON.stringify({ id: 'phi', name: 'Phi' }));
    visit('slow');
    vi.spyOn(api, 'models').mockResolvedValue([modelView('gpt'), modelView('phi')]);
    await app.lookAgainFor({ id: 'phi', name: 'Phi' });
    expect(app.missing).toBeUndefined();
    expect(app.choice.send).toBe('phi');
  });

  test('that was found is used here and made the default', async () => {
    await list('builtin', 'llama');
    const changeModel = vi.spyOn(api, 'changeModel').mockResolvedValue();
    visit('c');
    await app.adopt({ id: 'llama', name: 'Llama' });
    expect(changeModel).toHaveBeenCalledWith('llama', { isDefault: true });
    expect(app.choice.send).toBe('llama');
  });

  test('is tried when it was connected, and not when it was only renamed', async () => {
    await list('gpt');
    vi.spyOn(api, 'createModel').mockResolvedValue(modelView('new'));
    vi.spyOn(api, 'changeModel').mockResolvedValue();
    const testModel = vi.spyOn(api, 'testModel').mockImplementation(async function* () {});
    await app.addModel({ provider: 'openai', baseUrl: 'http://x', model: 'new' });
    await app.changeModel('gpt', { name: 'GPT' });
    expect(testModel.mock.calls.map(([id]) => id)).toEqual(['new']);
    await app.changeModel('gpt', { key: 'sk' });
    expect(testModel.mock.calls.map(([id]) => id)).toEqual(['new', 'gpt']);
  });

  test('that cannot be saved says so in words', async () => {
    vi.spyOn(api, 'createModel').mockRejectedValue(lost);
    const model = { provider: 'openai', baseUrl: 'http://x', model: 'new' } as const;
    await expect(app.addModel(model)).rejects.toThrow('Tenon does not answer.');
  });
});
