import { afterEach, beforeEach, describe, expect, test, vi, type MockInstance } from 'vitest';
import { session } from './account/session.svelte';
import { api, ApiError } from './api/client';
import type { ChatSummary, ServerFrame } from './api/types';
import { app } from './app.svelte';
import { answerCall, answerForm } from './chat/answerCall';
import { UNDO_MS } from './chat/list.svelte';
import { summary as chat } from './chat/fixtures';
import { changeModel, connectModel } from './models/connect';
import { modelView } from './models/fixtures';
import { router } from './router.svelte';
import { onSourcesChange } from './sources/events';
import { loadSetting, saveSetting } from './storage';
import { toasts } from './ui/toasts.svelte';

const lost = ApiError.noAnswer('Failed to fetch');
const sentIds = (startTurn: MockInstance<typeof api.startTurn>) =>
  startTurn.mock.calls.map(([, turn]) => turn.turnId);
const started = (chatId: string, seq: number, text: string, turnId = `t${seq}`): ServerFrame => ({
  type: 'event',
  chatId,
  seq,
  at: 0,
  body: {
    type: 'turnStarted',
    turnId,
    door: 'page',
    message: {
      id: `m${seq}`,
      chatId,
      turnId,
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
  // What is remembered of it is another test's.
  app.take({ type: 'chat:gone', chatId: 'a' });
});
afterEach(async () => {
  await vi.advanceTimersByTimeAsync(2 * UNDO_MS);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a deleted chat is deleted at once and can be had back', async () => {
  const deleteChat = vi.spyOn(api, 'deleteChat').mockResolvedValue();
  const restoreChat = vi.spyOn(api, 'restoreChat').mockResolvedValue(chat('a'));
  vi.spyOn(api, 'chats').mockResolvedValue([chat('a')]);
  visit('a');
  const wentTo = vi.spyOn(router, 'go');
  await app.chatManager.remove('a', 'A');
  expect(deleteChat).toHaveBeenCalledExactlyOnceWith('a');
  expect(wentTo).toHaveBeenLastCalledWith({ name: 'new' });
  visit(undefined);
  toasts.shown[0]?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(restoreChat).toHaveBeenCalledExactlyOnceWith('a');
  expect(wentTo).toHaveBeenLastCalledWith({ name: 'chat', chatId: 'a' });
});

test('a chat that is gone leaves nothing behind in the browser', async () => {
  saveSetting('draft.a', 'hello');
  saveSetting('model.a', '{"id":"x","name":"X"}');
  vi.spyOn(api, 'deleteChat').mockResolvedValue();
  await app.chatManager.remove('a', 'A');
  expect(loadSetting('draft.a')).toBe('hello');
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(['draft.a', 'model.a'].map(loadSetting)).toEqual([undefined, undefined]);
});

test('a chat that was deleted and restored elsewhere comes back where it is open', async () => {
  visit('a');
  const error = { code: 'not_found', message: 'Gone.', params: {} };
  const show = async () => {
    app.take(started('a', 1, 'hello'));
    app.take({ type: 'caughtUp', chatId: 'a', seq: 1 });
    await vi.advanceTimersByTimeAsync(100);
  };
  for (const back of [{ type: 'chat:changed', chat: chat('a') }, { type: 'resync' }] as const) {
    vi.spyOn(app, 'refresh').mockResolvedValue();
    await show();
    app.take({ type: 'error', chatId: 'a', error });
    app.take({ type: 'chat:changed', chat: chat('b') });
    expect(app.conversation.problem?.missing).toBe(true);
    app.take(back);
    expect(app.conversation.problem).toBeUndefined();
    await show();
    expect(app.conversation.turns.map(({ text }) => text)).toEqual(['hello']);
  }
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
    turnId: expect.any(String),
    text: 'hello',
    modelId: undefined,
    language: 'en',
  });
  expect(router.chatId).toBe('b');
  expect(app.draft.text).toBe('for b');
  expect([loadSetting('draft.new'), loadSetting('draft.a'), loadSetting('draft.b')]).toEqual([
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

test('a chat whose first message is refused is not kept, but the message is', async () => {
  vi.spyOn(api, 'createChat').mockResolvedValue(chat('a'));
  vi.spyOn(api, 'startTurn').mockRejectedValue(new ApiError('too_long', 'It is too long.', 413));
  const deleteChat = vi.spyOn(api, 'deleteChat').mockResolvedValue();
  visit(undefined);
  app.draft.text = 'hello';
  await app.send();
  expect(deleteChat).toHaveBeenCalledExactlyOnceWith('a');
  expect(app.list.chats.map(({ id }) => id)).not.toContain('a');
  expect(router.chatId).toBeUndefined();
  expect(app.draft.text).toBe('hello');
  expect([loadSetting('draft.new'), loadSetting('draft.a')]).toEqual(['hello', undefined]);
});

test('a chat whose first message may have arrived is kept', async () => {
  vi.spyOn(api, 'createChat').mockResolvedValue(chat('a'));
  vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
  const deleteChat = vi.spyOn(api, 'deleteChat').mockResolvedValue();
  visit(undefined);
  app.draft.text = 'hello';
  await app.send();
  expect(deleteChat).not.toHaveBeenCalled();
  expect(router.chatId).toBe('a');
  expect(app.draft.text).toBe('hello');
});

test('a chat that is deleted elsewhere leaves the screen and the list', async () => {
  vi.spyOn(api, 'chats').mockResolvedValue([chat('a'), chat('b')]);
  await app.list.refresh();
  visit('a');
  app.take(started('a', 1, 'hello'));
  app.take({ type: 'caughtUp', chatId: 'a', seq: 1 });
  await vi.advanceTimersByTimeAsync(100);
  expect(app.conversation.turns).toHaveLength(1);
  const error = { code: 'not_found', message: 'This chat was deleted.', params: {} };
  app.take({ type: 'error', chatId: 'a', error });
  await vi.advanceTimersByTimeAsync(100);
  expect(app.conversation.problem?.missing).toBe(true);
  expect(app.conversation.turns).toEqual([]);
  expect(app.list.chats.map(({ id }) => id)).toEqual(['b']);
});

describe('a message', () => {
  const write = (text: string) => {
    visit('a');
    app.draft.text = text;
  };

  test('whose response was lost is sent again at once, as the same turn', async () => {
    const startTurn = vi.spyOn(api, 'startTurn').mockRejectedValueOnce(lost);
    startTurn.mockResolvedValueOnce({ turnId: 't1' });
    write('hello');
    await app.send();
    const [first, second] = sentIds(startTurn);
    expect(first).toBe(second);
    expect(startTurn).toHaveBeenCalledTimes(2);
    expect([app.draft.text, loadSetting('draft.a')]).toEqual(['', undefined]);
    expect(toasts.shown).toEqual([]);
  });

  test('that did not arrive is the same turn when it is sent by hand, until it is changed', async () => {
    const startTurn = vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
    write('hello');
    await app.send();
    expect(app.draft.text).toBe('hello');
    await app.send();
    expect(new Set(sentIds(startTurn)).size).toBe(1);
    app.draft.text = 'hello, you';
    await app.send();
    expect(new Set(sentIds(startTurn)).size).toBe(2);
  });

  test('that the server refused gets another id', async () => {
    const busy = new ApiError('busy', 'This chat is still answering.', 409);
    const startTurn = vi.spyOn(api, 'startTurn').mockRejectedValue(busy);
    write('hello');
    await app.send();
    await app.send();
    expect(new Set(sentIds(startTurn)).size).toBe(2);
  });

  test('given up for lost leaves the field when its turn appears, not another one', async () => {
    const startTurn = vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
    write('hello');
    await app.send();
    app.take(started('a', 1, 'hello', 'somebody else’s'));
    expect(app.draft.text).toBe('hello');
    app.take(started('a', 2, 'hello', sentIds(startTurn)[0]));
    expect([app.draft.text, loadSetting('draft.a')]).toEqual(['', undefined]);
  });

  test('whose turn was seen is not lost, whatever became of the response', async () => {
    const answer = later<{ turnId: string }>();
    const startTurn = vi.spyOn(api, 'startTurn').mockReturnValue(answer.promise);
    write('hello');
    const sent = app.send();
    await vi.advanceTimersByTimeAsync(0);
    app.take(started('a', 1, 'hello', sentIds(startTurn)[0]));
    answer.reject(lost);
    await sent;
    expect(app.draft.text).toBe('');
    expect(loadSetting('draft.a')).toBeUndefined();
    expect(toasts.shown).toEqual([]);
  });

  test('is on its way until its own turn appears', async () => {
    const startTurn = vi.spyOn(api, 'startTurn').mockResolvedValue({ turnId: 't1' });
    write('hello');
    app.take({ type: 'caughtUp', chatId: 'a', seq: 0 });
    await app.send();
    app.take(started('a', 1, 'other', 'of another tab'));
    await vi.advanceTimersByTimeAsync(100);
    expect(app.conversation.sending?.text).toBe('hello');
    app.take(started('a', 2, 'hello', sentIds(startTurn)[0]));
    await vi.advanceTimersByTimeAsync(100);
    expect(app.conversation.sending).toBeUndefined();
  });
});

describe('in the place of a turn', () => {
  const turn = () => {
    const found = app.conversation.turns[0];
    if (!found) throw new Error('no turn');
    return found;
  };
  const open = async () => {
    visit('a');
    app.take(started('a', 1, 'hello'));
    const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const body = { type: 'turnFinished', turnId: 't1', outcome: { kind: 'done' }, usage } as const;
    app.take({ type: 'event', chatId: 'a', seq: 2, at: 0, body });
    app.take({ type: 'caughtUp', chatId: 'a', seq: 2 });
    await vi.advanceTimersByTimeAsync(100);
  };

  test('something else is said, and stands there while it is on its way', async () => {
    const answer = later<{ turnId: string }>();
    const startTurn = vi.spyOn(api, 'startTurn').mockReturnValue(answer.promise);
    await open();
    const sent = app.replace(turn(), { text: 'goodbye' });
    expect(app.conversation.turns).toEqual([]);
    expect(app.conversation.sending?.text).toBe('goodbye');
    answer.resolve({ turnId: 't2' });
    expect(await sent).toBe(true);
    expect(startTurn).toHaveBeenCalledExactlyOnceWith('a', {
      turnId: expect.any(String),
      text: 'goodbye',
      replaces: 't1',
      modelId: undefined,
      language: 'en',
    });
  });

  test('the same is answered anew', async () => {
    const startTurn = vi.spyOn(api, 'startTurn').mockResolvedValue({ turnId: 't2' });
    await open();
    await app.replace(turn());
    expect(startTurn.mock.calls[0]?.[1]).toEqual({
      turnId: expect.any(String),
      replaces: 't1',
      language: 'en',
    });
  });

  test('what could not be sent leaves the turn as it was', async () => {
    vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
    await open();
    expect(await app.replace(turn(), { text: 'goodbye' })).toBe(false);
    expect(turn().text).toBe('hello');
    expect(app.conversation.sending).toBeUndefined();
    expect(app.draft.text).toBe('');
  });
});

describe('what may have arrived and is repeated by hand', () => {
  const ended = (seq: number, turnId: string): ServerFrame => {
    const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const body = { type: 'turnFinished', turnId, outcome: { kind: 'done' }, usage } as const;
    return { type: 'event', chatId: 'a', seq, at: 0, body };
  };
  const open = async () => {
    vi.spyOn(api, 'endpoints').mockResolvedValue([]);
    vi.spyOn(api, 'models').mockResolvedValue([modelView('gpt', { isDefault: true })]);
    await app.models.refresh();
    visit('a');
    app.take(started('a', 1, 'hello'));
    app.take(ended(2, 't1'));
    app.take({ type: 'caughtUp', chatId: 'a', seq: 2 });
    await vi.advanceTimersByTimeAsync(100);
    return app.conversation.turns[0] ?? expect.fail('no turn');
  };
  /** How many turns the server would have. */
  const turns = (startTurn: MockInstance<typeof api.startTurn>) => new Set(sentIds(startTurn)).size;

  test.each([
    ['an edit', { text: 'goodbye' }],
    ['a regeneration', undefined],
  ])('%s is one turn', async (_, content) => {
    const startTurn = vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
    const turn = await open();
    await app.replace(turn, content);
    await app.replace(turn, content);
    expect([startTurn.mock.calls.length, turns(startTurn)]).toEqual([4, 1]);
    await app.replace(turn, { text: 'something else' });
    expect(turns(startTurn)).toBe(2);
  });

  test('a regeneration by another model is another turn', async () => {
    const startTurn = vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
    const turn = await open();
    await app.replace(turn);
    app.models.pick({ id: 'gpt', name: 'gpt' });
    await app.replace(turn);
    expect(turns(startTurn)).toBe(2);
  });

  test('a regeneration that was seen, or refused, is asked for anew', async () => {
    const startTurn = vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
    const turn = await open();
    await app.replace(turn);
    app.take(started('a', 3, 'hello', sentIds(startTurn)[0]));
    app.take(ended(4, sentIds(startTurn)[0] ?? ''));
    await vi.advanceTimersByTimeAsync(100);
    startTurn.mockRejectedValue(new ApiError('busy', 'This chat is still answering.', 409));
    await app.replace(turn);
    await app.replace(turn);
    expect(turns(startTurn)).toBe(3);
  });

  test('a suggestion is one turn, and once in the field', async () => {
    vi.spyOn(api, 'createChat').mockResolvedValue(chat('a'));
    const startTurn = vi.spyOn(api, 'startTurn').mockRejectedValue(lost);
    visit(undefined);
    await app.send('What time is it?');
    await app.send('What time is it?');
    expect(turns(startTurn)).toBe(1);
    expect(app.draft.text).toBe('What time is it?');
    startTurn.mockResolvedValue({ turnId: 't1' });
    await app.send('What time is it?');
    expect([turns(startTurn), app.draft.text]).toEqual([1, '']);
  });
});

test('a call that was answered elsewhere is no failure', async () => {
  const answered = vi.spyOn(api, 'answerCall');
  answered.mockRejectedValueOnce(new ApiError('conflict', 'It no longer waits.', 409));
  await answerCall(app.toolbox, 'k1', 'once');
  expect(toasts.shown).toEqual([]);
  answered.mockRejectedValueOnce(lost);
  await answerCall(app.toolbox, 'k1', 'once');
  expect(toasts.shown.map(({ text }) => text)).toEqual([
    'Your answer did not arrive: Tenon does not answer.',
  ]);
});

test('a chat that begins to ask while another one is open says so once', async () => {
  const chats = vi.spyOn(api, 'chats').mockResolvedValue([chat('b', { asking: true }), chat('c')]);
  for (const call of ['tools', 'models', 'endpoints', 'info'] as const) {
    vi.spyOn(api, call).mockRejectedValue(lost);
  }
  await app.refresh();
  expect(toasts.shown).toEqual([]);
  chats.mockResolvedValue([chat('b', { asking: true }), chat('c', { asking: true })]);
  await app.refresh();
  await app.refresh();
  expect(toasts.shown.map(({ text }) => text)).toEqual(['“c” is waiting for your answer.']);
});

test('a chat that is on show in a part of the page asks there and nowhere else', async () => {
  const chats = vi.spyOn(api, 'chats').mockResolvedValue([chat('compared')]);
  for (const call of ['tools', 'models', 'endpoints', 'info'] as const) {
    vi.spyOn(api, call).mockRejectedValue(lost);
  }
  await app.refresh();
  const part = app.newConversation();
  part.open('compared');
  chats.mockResolvedValue([chat('compared', { asking: true })]);
  await app.refresh();
  expect(toasts.shown).toEqual([]);
  part.close();
});

describe('what changes elsewhere', () => {
  /** Everything the page reads from the server. */
  const reads = () => ({
    chats: vi.spyOn(api, 'chats').mockResolvedValue([chat('elsewhere')]),
    tools: vi.spyOn(api, 'tools').mockResolvedValue([]),
    models: vi.spyOn(api, 'models').mockResolvedValue([]),
    endpoints: vi.spyOn(api, 'endpoints').mockResolvedValue([]),
    info: vi.spyOn(api, 'info').mockResolvedValue({} as Awaited<ReturnType<typeof api.info>>),
    session: vi.spyOn(session, 'refresh').mockResolvedValue(),
  });
  const counts = (all: ReturnType<typeof reads>) =>
    Object.fromEntries(Object.entries(all).map(([name, { mock }]) => [name, mock.calls.length]));
  const none = { chats: 0, tools: 0, models: 0, endpoints: 0, info: 0, session: 0 };

  const busy = new ApiError('busy', 'Later.', 503);

  test('is read again where that failed', async () => {
    const { chats } = reads();
    chats.mockRejectedValueOnce(lost);
    await app.refresh();
    expect(chats).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(chats).toHaveBeenCalledTimes(2);
  });

  test.each([
    ['tools', 'tools'],
    ['models', 'models'],
    ['models', 'endpoints'],
    ['models', 'info'],
    ['accounts', 'session'],
  ] as const)('of %s is not lost where reading %s fails once', async (topic, read) => {
    const all = reads();
    all[read].mockRejectedValueOnce(busy);
    app.take({ type: 'changed', topic });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(counts(all)[read]).toBe(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(counts(all)[read]).toBe(2);
  });

  test('in the tools of a chat is read again where that failed at its opening', async () => {
    const { tools } = reads();
    tools.mockRejectedValueOnce(busy);
    visit('tools of another');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tools.mock.calls).toEqual([['tools of another'], ['tools of another']]);
  });

  test('in a role changes what may be done with sources', () => {
    reads();
    const received = vi.fn();
    const stop = onSourcesChange(received);
    app.take({ type: 'changed', topic: 'accounts' });
    expect(received.mock.calls).toEqual([[undefined]]);
    stop();
  });

  test('is read once when the page is connected, and an idle page reads nothing', async () => {
    const all = reads();
    let socket: { onopen(): void } | undefined;
    vi.stubGlobal(
      'WebSocket',
      class {
        constructor() {
          socket = this;
        }
        onopen() {}
        close() {}
        send() {}
      },
    );
    const stop = app.start();
    socket?.onopen();
    app.take({ type: 'resync' });
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(counts(all)).toEqual({
      chats: 1,
      tools: 1,
      models: 1,
      endpoints: 1,
      info: 1,
      session: 1,
    });
    app.take({ type: 'resync' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(counts(all).chats).toBe(2);
    stop();
    vi.unstubAllGlobals();
  });

  test('in a chat is shown without a question to the server', async () => {
    const all = reads();
    await app.refresh();
    await vi.advanceTimersByTimeAsync(1_000);
    vi.clearAllMocks();
    const before = toasts.shown.length;
    app.take({ type: 'chat:changed', chat: chat('new', { updatedAt: 9, asking: true }) });
    app.take({ type: 'chat:changed', chat: chat('new', { updatedAt: 10, asking: true }) });
    expect(app.list.chats.map(({ id }) => id)).toEqual(['new', 'elsewhere']);
    expect(toasts.shown.slice(before).map(({ text }) => text)).toEqual([
      '“new” is waiting for your answer.',
    ]);
    app.take({ type: 'chat:gone', chatId: 'new' });
    expect(app.list.chats.map(({ id }) => id)).toEqual(['elsewhere']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(counts(all)).toEqual(none);
  });

  test('of tools, models and accounts is read again, once for many changes', async () => {
    const all = reads();
    for (const topic of ['tools', 'models', 'tools', 'models'] as const) {
      app.take({ type: 'changed', topic });
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(counts(all)).toEqual({ ...none, tools: 1, models: 1, endpoints: 1, info: 1 });
    for (let count = 0; count < 3; count++) app.take({ type: 'changed', topic: 'accounts' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(counts(all).session).toBe(1);
  });
});

test('what says that a chat is in the archive goes with the chat', async () => {
  vi.spyOn(api, 'chats').mockResolvedValue([chat('put away')]);
  const archived = chat('put away', { archived: true });
  vi.spyOn(api, 'changeChat').mockResolvedValue(archived);
  vi.spyOn(api, 'deleteChat').mockResolvedValue();
  await app.list.refresh();
  await app.chatManager.setArchived('put away', true, 'Tokyo');
  expect(toasts.shown.map(({ text }) => text)).toEqual(['Archived “Tokyo”']);
  await app.chatManager.remove('put away', 'Tokyo');
  expect(toasts.shown.map(({ text }) => text)).toEqual(['Deleted “Tokyo”']);
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
    saveSetting('model.a', JSON.stringify({ id: 'llama', name: 'Llama' }));
    visit('a');
    const missing = { id: 'llama', name: 'Llama' };
    expect(app.choice).toMatchObject({ model: { id: 'gpt' }, missing });
    expect(app.missing).toBeUndefined();
    await app.lookAgainFor(missing);
    expect(app.missing).toEqual(missing);
    const startTurn = vi.spyOn(api, 'startTurn').mockResolvedValue({ turnId: 't1' });
    await app.send('hello');
    expect(startTurn.mock.calls[0]?.[1].modelId).toBeUndefined();
    expect([app.missing, loadSetting('model.a')]).toEqual([undefined, undefined]);
  });

  test('of this computer is not replaced by one elsewhere unasked', async () => {
    await list('gpt');
    saveSetting('model.d', JSON.stringify({ id: 'ollama:llama', name: 'Llama' }));
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
    saveSetting('model.e', JSON.stringify({ id: 'mine', name: 'Mine' }));
    visit('e');
    vi.spyOn(api, 'deleteModel').mockResolvedValue();
    await app.models.remove('mine');
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
    saveSetting('model.slow', JSON.stringify({ id: 'phi', name: 'Phi' }));
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
    expect(app.choice.send).toBe('llama');
    // What everybody gets is not everybody's to say.
    expect(changeModel).not.toHaveBeenCalled();
    vi.spyOn(session, 'isAdmin', 'get').mockReturnValue(true);
    await app.adopt({ id: 'llama', name: 'Llama' });
    expect(changeModel).toHaveBeenCalledWith('llama', { isDefault: true });
  });

  test('is tried when it was connected, and not when it was only renamed', async () => {
    await list('gpt');
    vi.spyOn(api, 'createModel').mockResolvedValue(modelView('new'));
    vi.spyOn(api, 'changeModel').mockResolvedValue();
    const testModel = vi.spyOn(api, 'testModel').mockImplementation(async function* () {});
    await connectModel(app.models, { provider: 'openai', baseUrl: 'http://x', model: 'new' });
    await changeModel(app.models, 'gpt', { name: 'GPT' });
    expect(testModel.mock.calls.map(([id]) => id)).toEqual(['new']);
    await changeModel(app.models, 'gpt', { key: 'sk' });
    expect(testModel.mock.calls.map(([id]) => id)).toEqual(['new', 'gpt']);
  });

  test('that cannot be saved fails with what the server said, the field included', async () => {
    const refused = new ApiError('model_name_invalid', 'Too long.', 400, undefined, {}, 'name');
    vi.spyOn(api, 'createModel').mockRejectedValue(refused);
    const model = { provider: 'openai', baseUrl: 'http://x', model: 'new' } as const;
    await expect(connectModel(app.models, model)).rejects.toBe(refused);
  });
});

test('a server that changes is told of at once', () => {
  const received: unknown[] = [];
  const stop = onSourcesChange((news) => received.push(news?.sourceId));
  const changed: ServerFrame = {
    type: 'source:state',
    sourceId: 's1',
    gone: false,
    tools: 2,
    revision: 1,
    state: 'ready',
  };
  for (let count = 0; count < 5; count++) app.take({ ...changed, revision: count });
  expect(received).toEqual(['s1', 's1', 's1', 's1', 's1']);
  stop();
  app.take(changed);
  expect(received).toHaveLength(5);
});

test('an answer to a form that was given elsewhere is no failure, a wrong one is', async () => {
  const answer = { formId: 'f1', action: 'decline' } as const;
  const answered = vi.spyOn(api, 'answerForm');
  answered.mockRejectedValueOnce(new ApiError('not_waiting', 'It is over.', 409));
  await answerForm('call1', answer);
  answered.mockRejectedValueOnce(new ApiError('bad_answer', '`age` is missing.', 422));
  await expect(answerForm('call1', answer)).rejects.toThrow('`age` is missing.');
});
