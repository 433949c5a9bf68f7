import { errorDetail } from '$lib/i18n/errorFixture';
import { describe, expect, test } from 'vitest';
import type { CallProgress, EventBody, Form, ServerFrame } from '$lib/api/types';
import {
  awaitingCall,
  emptyChat,
  isAwaitingAnswer,
  openForm,
  runningTurn,
  shownTurns,
  type Chat,
} from './chat';
import { reduce } from './reduce';
import { turnPlaces, turnVersions } from './versions';
import { callPart, caughtUp, delta, noUsage, replay, record, FrameBuilder } from './fixtures';

/** One whole turn with a call in it: what most tests tear apart. */
function tokyo(): FrameBuilder {
  return new FrameBuilder()
    .turnStarted('What time is it in Tokyo?')
    .messageStarted('m1')
    .messageFinished('m1', { type: 'text', text: 'Let me look.' }, callPart('call1'))
    .callRequested('call1', 'm1')
    .event({ type: 'callStarted', callId: 'call1' })
    .event({
      type: 'callFinished',
      callId: 'call1',
      status: 'done',
      output: { content: [{ type: 'text', text: '09:12' }] },
      durationMs: 12,
    })
    .messageStarted('m2')
    .messageFinished('m2', { type: 'text', text: 'It is 09:12 in Tokyo.' })
    .event({ type: 'chatTitled', title: 'Time in Tokyo', by: 'cut' })
    .done();
}

/** A message in progress, with nothing written yet. */
function writing(): Chat {
  return new FrameBuilder().turnStarted('Hi').messageStarted('m1').replay();
}

function textOf(chat: Chat, message = 0, part = 0): string | undefined {
  const found = chat.turns.at(-1)?.messages[message]?.parts[part];
  return found && 'text' in found ? found.text : undefined;
}

test('a turn is told by its events', () => {
  expect(tokyo().replay()).toEqual({
    id: 'c1',
    title: 'Time in Tokyo',
    seq: 10,
    caughtUp: false,
    missed: false,
    head: 't1',
    turns: [
      {
        id: 't1',
        text: 'What time is it in Tokyo?',
        startedAt: 1000,
        outcome: { kind: 'done' },
        usage: noUsage,
        messages: [
          {
            id: 'm1',
            startedAt: 2000,
            finishedAt: 3000,
            parts: [{ type: 'text', text: 'Let me look.' }, callPart('call1')],
          },
          {
            id: 'm2',
            startedAt: 7000,
            finishedAt: 8000,
            parts: [{ type: 'text', text: 'It is 09:12 in Tokyo.' }],
          },
        ],
        calls: {
          call1: {
            ...record('call1', 'm1'),
            status: 'done',
            startedAt: 5000,
            output: { content: [{ type: 'text', text: '09:12' }] },
            error: undefined,
            durationMs: 12,
          },
        },
      },
    ],
  });
});

test('nothing of a chat that is shown is changed in place', () => {
  const { frames } = tokyo();
  let chat: Chat = { ...emptyChat('c1'), caughtUp: true };
  for (const frame of frames) {
    const copy = structuredClone(chat);
    const next = reduce(chat, frame);
    expect(chat).toEqual(copy);
    chat = next;
  }
});

test('what a frame does not touch keeps its identity', () => {
  const replayed = tokyo().turnStarted('And now?', 't2').messageStarted('m3', 't2').replay();
  const before = reduce(replayed, caughtUp(replayed.seq));
  const after = reduce(before, delta('m3', 0, 0, 'It'));
  expect(after.turns[0]).toBe(before.turns[0]);
  expect(after.turns[1]).not.toBe(before.turns[1]);
});

describe('events', () => {
  test('that arrive twice are taken once', () => {
    const { frames } = tokyo();
    expect(replay(frames.flatMap((frame) => [frame, frame]))).toEqual(replay(frames));
    expect(replay([...frames, ...frames])).toEqual(replay(frames));
  });

  test('a gap takes nothing in and asks for what was missed', () => {
    const { frames } = tokyo();
    const gap = replay([...frames.slice(0, 4), ...frames.slice(5)]);
    expect(gap).toEqual({ ...replay(frames.slice(0, 4)), missed: true });
  });

  test('the replay after a gap heals it', () => {
    const { frames } = tokyo();
    const gap = replay([...frames.slice(0, 4), ...frames.slice(5)]);
    const healed = replay([...frames.slice(gap.seq), caughtUp(10)], gap);
    expect(healed).toEqual({ ...replay(frames), caughtUp: true });
  });

  test('are told anew by a server whose backup was restored', () => {
    const chat = tokyo().replay();
    expect(reduce(chat, caughtUp(3))).toEqual({ ...emptyChat(chat.id), missed: true });
  });

  test('of another chat are not for this one', () => {
    const chat = tokyo().replay();
    const strange: ServerFrame = {
      type: 'event',
      chatId: 'c2',
      seq: 11,
      at: 0,
      body: { type: 'chatTitled', title: 'Other', by: 'cut' },
    };
    expect(reduce(chat, strange)).toBe(chat);
    expect(reduce(chat, { type: 'caughtUp', chatId: 'c2', seq: 3 })).toBe(chat);
  });

  test('of an unknown type are counted and ignored', () => {
    const chat = tokyo().replay();
    const body = { type: 'fromTheFuture', colour: 'blue' } as unknown as EventBody;
    const next = reduce(chat, { type: 'event', chatId: 'c1', seq: 11, at: 0, body });
    expect(next).toEqual({ ...chat, seq: 11 });
  });

  test('frames of an unknown type are ignored', () => {
    const chat = tokyo().replay();
    expect(reduce(chat, { type: 'weather' } as unknown as ServerFrame)).toBe(chat);
  });
});

describe('deltas', () => {
  test('grow the text', () => {
    const chat = replay([delta('m1', 0, 0, 'It is '), delta('m1', 0, 6, '09:12')], writing());
    expect(textOf(chat)).toBe('It is 09:12');
    expect(chat.missed).toBe(false);
  });

  test('count in UTF-16 units', () => {
    const chat = replay([delta('m1', 0, 0, '东京🗼'), delta('m1', 0, 4, '现在')], writing());
    expect(textOf(chat)).toBe('东京🗼现在');
  });

  test('that arrive twice or overlap are taken once', () => {
    const chat = replay(
      [
        delta('m1', 0, 0, 'It is '),
        delta('m1', 0, 0, 'It is '),
        delta('m1', 0, 3, 'is 09'),
        delta('m1', 0, 0, 'It'),
        delta('m1', 0, 8, ':12'),
      ],
      writing(),
    );
    expect(textOf(chat)).toBe('It is 09:12');
  });

  test('out of order, the early one is left out and asked for again', () => {
    const early = reduce(writing(), delta('m1', 0, 6, '09:12'));
    expect(early).toEqual({ ...writing(), missed: true });
    const healed = replay([delta('m1', 0, 0, 'It is 09:12'), caughtUp(2)], early);
    expect(textOf(healed)).toBe('It is 09:12');
    expect(healed.missed).toBe(false);
  });

  test('of a finished message change nothing', () => {
    const chat = tokyo().replay();
    expect(reduce(chat, delta('m2', 0, 0, 'It is 09:12 in Tokyo. And more'))).toBe(chat);
  });

  test('of a message never heard of show that its start was missed', () => {
    expect(reduce(writing(), delta('m9', 0, 0, 'x')).missed).toBe(true);
  });

  test('fill parts in their places', () => {
    const chat = replay([delta('m1', 1, 0, 'Second')], writing());
    expect(textOf(chat, 0, 0)).toBe('');
    expect(textOf(chat, 0, 1)).toBe('Second');
  });

  test('of thinking and of input are kept apart from the text', () => {
    const kinds: ServerFrame[] = [
      { ...delta('m1', 0, 0, 'Hm.'), kind: { kind: 'thinking' } } as ServerFrame,
      {
        ...delta('m1', 1, 0, '{"timezone"'),
        kind: { kind: 'input', displayName: 'Time/current time' },
      } as ServerFrame,
    ];
    expect(replay(kinds, writing()).turns[0]?.messages[0]?.parts).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'draft', displayName: 'Time/current time', text: '{"timezone"' },
    ]);
  });

  test('end the wait for a busy model', () => {
    const frame = { type: 'waiting', chatId: 'c1', messageId: 'm1', waitMs: 3000 } as ServerFrame;
    const waits = (chat: Chat) => chat.turns[0]?.messages[0]?.wait?.ms;
    const waiting = reduce(writing(), { ...frame, chatId: writing().id } as ServerFrame);
    expect(waits(waiting)).toBe(3000);
    expect(waits(reduce(waiting, delta('m1', 0, 0, 'At last')))).toBeUndefined();
  });

  test('end the reading of a long prompt', () => {
    const frame = { type: 'prompt:progress', messageId: 'm1', processed: 512, total: 2048 };
    const prompt = (chat: Chat) => chat.turns[0]?.messages[0]?.prompt;
    const reading = reduce(writing(), { ...frame, chatId: writing().id } as ServerFrame);
    expect(prompt(reading)).toEqual({ processed: 512, total: 2048 });
    expect(prompt(reduce(writing(), { ...frame, chatId: 'other' } as ServerFrame))).toBeUndefined();
    expect(prompt(reduce(reading, delta('m1', 0, 0, 'At last')))).toBeUndefined();
  });

  test('give way to the finished message', () => {
    const chat = new FrameBuilder()
      .turnStarted('Hi')
      .messageStarted('m1')
      .messageFinished('m1', { type: 'text', text: 'Hello.' });
    const typed = replay([...chat.frames.slice(0, 2), delta('m1', 0, 0, 'Hel')]);
    expect(textOf(replay(chat.frames.slice(2), typed))).toBe('Hello.');
  });
});

describe('a reconnect', () => {
  test('in the middle of a message loses and doubles nothing', () => {
    const builder = new FrameBuilder().turnStarted('Hi').messageStarted('m1');
    const before = replay([...builder.frames, delta('m1', 0, 0, 'Hello, ')]);
    // The server has written on meanwhile, and tells the text so far.
    const after = replay([delta('m1', 0, 0, 'Hello, dear'), caughtUp(2)], before);
    expect(textOf(after)).toBe('Hello, dear');
    expect(textOf(reduce(after, delta('m1', 0, 11, ' reader')))).toBe('Hello, dear reader');
  });

  test('after the turn ended brings the rest of it', () => {
    const { frames } = tokyo();
    const before = replay(frames.slice(0, 5));
    expect(replay(frames.slice(before.seq), before)).toEqual(replay(frames));
  });

  test('wherever it happens, the chat comes out the same', () => {
    const { frames } = tokyo();
    const whole = replay([...frames, caughtUp(10)]);
    for (let cut = 0; cut <= frames.length; cut += 1) {
      const before = replay(frames.slice(0, cut));
      expect(replay([...frames.slice(before.seq), caughtUp(10)], before)).toEqual(whole);
    }
  });
});

describe('calls', () => {
  test('keep the name of their draft until their record arrives', () => {
    const named: ServerFrame = {
      ...delta('m1', 0, 0, '{}'),
      kind: { kind: 'input', displayName: 'Time/current time' },
    } as ServerFrame;
    const builder = new FrameBuilder()
      .turnStarted('Hi')
      .messageStarted('m1')
      .messageFinished('m1', callPart('call1'));
    const chat = replay([...builder.frames.slice(0, 2), named, ...builder.frames.slice(2)]);
    expect(chat.turns[0]?.calls.call1).toMatchObject({
      displayName: 'Time/current time',
      status: 'pending',
    });
  });

  test('with an id that was used before belong to the latest turn', () => {
    const chat = tokyo()
      .turnStarted('Again', 't2')
      .messageStarted('m3', 't2')
      .messageFinished('m3', callPart('call1'))
      .callRequested('call1', 'm3')
      .event({ type: 'callStarted', callId: 'call1' })
      .replay();
    expect(chat.turns[0]?.calls.call1?.status).toBe('done');
    expect(chat.turns[1]?.calls.call1?.status).toBe('running');
  });
});

describe('a turn', () => {
  const cutShort = () =>
    new FrameBuilder()
      .turnStarted('Sleep')
      .messageStarted('m1')
      .messageFinished('m1', callPart('call1'))
      .callRequested('call1', 'm1')
      .event({ type: 'callStarted', callId: 'call1' });
  const usage = noUsage;

  test('runs until it is finished', () => {
    expect(runningTurn(cutShort().replay())?.id).toBe('t1');
    expect(runningTurn(tokyo().replay())).toBeUndefined();
  });

  test('that a crash interrupted leaves nothing running', () => {
    const chat = cutShort()
      .event({
        type: 'turnFinished',
        turnId: 't1',
        outcome: { kind: 'interrupted', ...errorDetail('Tenon was restarted.') },
        usage,
      })
      .replay();
    expect(runningTurn(chat)).toBeUndefined();
    expect(chat.turns[0]?.calls.call1?.status).toBe('lost');
  });

  test('that was stopped cancels what had not ended', () => {
    const chat = cutShort()
      .event({ type: 'turnFinished', turnId: 't1', outcome: { kind: 'stopped' }, usage })
      .replay();
    expect(chat.turns[0]?.calls.call1?.status).toBe('cancelled');
  });

  test('that ends in the middle of a message keeps its text and drops half a call', () => {
    const half: ServerFrame = {
      ...delta('m1', 1, 0, '{"tim'),
      kind: { kind: 'input', displayName: 'Time' },
    } as ServerFrame;
    const builder = new FrameBuilder().turnStarted('Hi').messageStarted('m1').done();
    const chat = replay([
      ...builder.frames.slice(0, 2),
      delta('m1', 0, 0, 'Let me'),
      half,
      ...builder.frames.slice(2),
    ]);
    expect(chat.turns[0]?.messages).toEqual([
      { id: 'm1', startedAt: 2000, finishedAt: 3000, parts: [{ type: 'text', text: 'Let me' }] },
    ]);
  });

  test('that never ended does not count as running once another one began', () => {
    const chat = cutShort().turnStarted('Next', 't2').done('t2').replay();
    expect(runningTurn(chat)).toBeUndefined();
  });

  test('knows who was asked, what it took and what that cost', () => {
    const usage = {
      inputTokens: 1204,
      outputTokens: 310,
      cacheReadTokens: 800,
      cacheWriteTokens: 0,
    };
    const cost = { currency: 'USD', micros: 12_300 };
    const chat = new FrameBuilder()
      .turnStarted('Hi', 't1', { id: 'gpt', name: 'GPT' })
      .event({ type: 'turnFinished', turnId: 't1', outcome: { kind: 'done' }, usage, cost })
      .replay();
    expect(chat.turns[0]).toMatchObject({ model: { id: 'gpt', name: 'GPT' }, usage, cost });
  });

  test('tells of a tool that was left out once, with the latest reason', () => {
    const left = (toolId: string, why: string) => ({
      toolId,
      displayName: toolId,
      why: errorDetail(why),
    });
    const chat = new FrameBuilder()
      .turnStarted('Hi')
      .event({ type: 'toolsLeftOut', turnId: 't1', tools: [left('a', 'old'), left('b', 'b')] })
      .event({ type: 'toolsLeftOut', turnId: 't1', tools: [left('a', 'new')] })
      .replay();
    expect(chat.turns[0]?.leftOut).toEqual([left('a', 'new'), left('b', 'b')]);
  });
});

test('a part that only a provider understands is kept, and never read', () => {
  const chat = new FrameBuilder()
    .turnStarted('Hi')
    .messageStarted('m1')
    .messageFinished('m1', { type: 'opaque' }, { type: 'text', text: 'Hello' })
    .replay();
  expect([textOf(chat, 0, 0), textOf(chat, 0, 1)]).toEqual([undefined, 'Hello']);
});

describe('branches', () => {
  const shown = (chat: Chat) => shownTurns(chat).map(({ id }) => id);
  const places = (chat: Chat) =>
    shownTurns(chat).map((turn) => {
      const all = turnVersions(turnPlaces(chat), turn)?.edits ?? [turn];
      return `${turn.id} ${all.indexOf(turn) + 1}/${all.length}`;
    });
  /** Two turns, then the second one anew, then the first one anew. */
  const forked = () =>
    new FrameBuilder()
      .turnStarted('One', 'a')
      .done('a')
      .turnStarted('Two', 'b')
      .done('b')
      .turnStarted('Two, else', 'c', undefined, { after: 'a' })
      .done('c')
      .turnStarted('One, else', 'd', undefined, { after: null })
      .done('d');

  test('turns without a word about them follow each other, as they always did', () => {
    const chat = new FrameBuilder()
      .turnStarted('One', 'a')
      .done('a')
      .turnStarted('Two', 'b')
      .replay();
    expect(shown(chat)).toEqual(['a', 'b']);
    expect(chat.turns.map(({ parent }) => parent)).toEqual([undefined, 'a']);
    expect(places(chat)).toEqual(['a 1/1', 'b 1/1']);
  });

  test('a turn in the place of another is shown, and the other is kept', () => {
    const { frames } = forked();
    expect(places(replay(frames.slice(0, 6)))).toEqual(['a 1/1', 'c 2/2']);
    expect(places(replay(frames))).toEqual(['d 2/2']);
    expect(replay(frames).turns).toHaveLength(4);
  });

  test('the chosen branch is shown, and what is said goes on from there', () => {
    const builder = forked().event({ type: 'branchChosen', turnId: 'b' });
    expect(places(builder.replay())).toEqual(['a 1/2', 'b 1/2']);
    const chat = builder.turnStarted('Three', 'e').replay();
    expect(places(chat)).toEqual(['a 1/2', 'b 1/2', 'e 1/1']);
    expect(runningTurn(chat)?.id).toBe('e');
  });

  test('a choice that arrives twice is taken once', () => {
    const builder = forked().event({ type: 'branchChosen', turnId: 'b' }).turnStarted('Three', 'e');
    const { frames } = builder;
    expect(replay(frames.flatMap((frame) => [frame, frame]))).toEqual(replay(frames));
    expect(replay([...frames, ...frames])).toEqual(replay(frames));
  });

  test('a damaged tree does not hang the page', () => {
    const chat = forked().replay();
    const circle = chat.turns.map((turn) => (turn.id === 'd' ? { ...turn, parent: 'd' } : turn));
    expect(shown({ ...chat, turns: circle })).toHaveLength(4);
    expect(shown({ ...chat, head: 'gone' })).toEqual([]);
  });
});

describe('a call that asks', () => {
  const asked = () =>
    new FrameBuilder()
      .turnStarted('What time is it?')
      .messageStarted('m1')
      .messageFinished('m1', callPart('call1'))
      .callRequested('call1', 'm1')
      .event({ type: 'callAsked', callId: 'call1' });
  const call = (chat: Chat) => chat.turns[0]?.calls.call1;

  test('waits until a person has answered', () => {
    expect(awaitingCall(asked().replay())?.id).toBe('call1');
    const answered = asked().event({ type: 'callAnswered', callId: 'call1', verdict: 'chat' });
    expect(awaitingCall(answered.replay())).toBeUndefined();
    expect(call(answered.replay())).toMatchObject({ asked: false, verdict: 'chat' });
  });

  test('is asked and answered once, however often that is told', () => {
    const { frames } = asked().event({ type: 'callAnswered', callId: 'call1', verdict: 'once' });
    expect(replay(frames.flatMap((frame) => [frame, frame]))).toEqual(replay(frames));
  });

  test('keeps what was decided when it is done', () => {
    const chat = asked()
      .event({ type: 'callAnswered', callId: 'call1', verdict: 'denied' })
      .event({
        type: 'callFinished',
        callId: 'call1',
        status: 'failed',
        error: { kind: 'denied', message: 'The user refused.', params: {} },
        durationMs: 0,
      })
      .replay();
    expect(call(chat)).toMatchObject({ status: 'failed', verdict: 'denied' });
  });

  test('asks no more when its turn was stopped', () => {
    const chat = asked()
      .event({ type: 'turnFinished', turnId: 't1', outcome: { kind: 'stopped' }, usage: noUsage })
      .replay();
    const stopped = call(chat);
    expect(stopped && isAwaitingAnswer(stopped)).toBe(false);
  });
});

describe('a call that asks while it runs', () => {
  const form = (id: string): Form => ({
    id,
    message: '<b>Which?</b>',
    wants: { kind: 'fields', schema: { properties: {} } },
  });
  const running = () =>
    new FrameBuilder()
      .turnStarted('Book it')
      .messageStarted('m1')
      .messageFinished('m1', callPart('call1'))
      .callRequested('call1', 'm1')
      .event({ type: 'callStarted', callId: 'call1' });
  const shown = (id = 'f1') =>
    running().event({ type: 'formShown', callId: 'call1', form: form(id) });
  const callOf = (chat: Chat) => chat.turns[0]?.calls.call1;
  const waits = (builder: FrameBuilder) => awaitingCall(builder.replay())?.id;

  test('waits for the form to be answered', () => {
    const call = callOf(shown().replay());
    expect(call && openForm(call)).toEqual(form('f1'));
    expect(waits(shown())).toBe('call1');
    expect(waits(running())).toBe(undefined);
  });

  test('goes on when it is, and remembers how', () => {
    const answered = shown()
      .event({ type: 'formAnswered', callId: 'call1', formId: 'f1', outcome: 'declined' })
      .event({ type: 'formShown', callId: 'call1', form: form('f2') });
    const call = callOf(answered.replay());
    expect(call?.forms).toEqual([{ form: form('f1'), outcome: 'declined' }, { form: form('f2') }]);
    expect(call && openForm(call)).toEqual(form('f2'));
  });

  test('waits no more when it is over', () => {
    const over = shown().event({
      type: 'callFinished',
      callId: 'call1',
      status: 'failed',
      durationMs: 1,
    });
    expect(waits(over)).toBe(undefined);
    expect(callOf(over.replay())?.forms).toHaveLength(1);
    expect(waits(shown().done())).toBe(undefined);
  });

  test('is told of once, however often it is told', () => {
    const { frames } = shown();
    expect(replay([...frames, ...frames])).toEqual(replay(frames));
  });
});

describe('progress', () => {
  const at = (progress: number, more: Partial<CallProgress> = {}): ServerFrame => ({
    type: 'progress',
    chatId: 'c1',
    callId: 'call1',
    progress,
    ...more,
  });
  const running = () =>
    new FrameBuilder()
      .turnStarted('Work')
      .messageStarted('m1')
      .messageFinished('m1', callPart('call1'))
      .callRequested('call1', 'm1')
      .event({ type: 'callStarted', callId: 'call1' });
  const shown = (chat: Chat) => chat.turns[0]?.calls.call1?.progress;

  test('is the latest that was said', () => {
    const chat = replay(
      [at(1, { total: 4 }), at(2, { total: 4, message: 'half' })],
      running().replay(),
    );
    expect(shown(chat)).toEqual({ progress: 2, total: 4, message: 'half' });
  });

  test('ends with its call', () => {
    const builder = running();
    const working = replay([at(1)], builder.replay());
    const over = builder.event({
      type: 'callFinished',
      callId: 'call1',
      status: 'done',
      durationMs: 1,
    });
    expect(shown(replay(over.frames.slice(-1), working))).toBe(undefined);
    expect(shown(replay([at(2)], over.replay()))).toBe(undefined);
  });

  test('of a call that is not known changes nothing', () => {
    const chat = running().replay();
    expect(replay([at(1, { callId: 'other' }), at(1, { chatId: 'c2' })], chat)).toBe(chat);
  });
});
