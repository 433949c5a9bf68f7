import { describe, expect, it } from 'vitest';
import type { AuditView, ModelCallTrace, ToolCallTrace, TurnTrace } from '$lib/api/types';
import { callSpan, entrySpan, ticks, traceSpans } from './spans';

const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

function model(call: Partial<ModelCallTrace>): ModelCallTrace {
  return {
    id: 'model',
    messageId: 'm',
    attempt: 1,
    startedAt: 1_000,
    usage,
    hasRequest: false,
    output: '',
    calls: [],
    ...call,
  };
}

function tool(call: Partial<ToolCallTrace>): ToolCallTrace {
  return {
    callId: 'call',
    messageId: 'm',
    toolId: 't',
    displayName: 'T',
    runsOn: 'server',
    status: 'done',
    requestedAt: 1_000,
    forms: [],
    input: '{}',
    ...call,
  };
}

function trace(of: Partial<TurnTrace>): TurnTrace {
  return {
    turnId: 'turn',
    chatId: 'chat',
    door: 'page',
    startedAt: 1_000,
    usage,
    modelCalls: [],
    toolCalls: [],
    isWhole: true,
    ...of,
  };
}

/** "kind from-to" of each part. */
const parts = (of: TurnTrace, now = 0) =>
  traceSpans(of, now).spans.map(({ segments }) =>
    segments.map(({ kind, from, to }) => `${kind} ${from}-${to}`),
  );

describe('the rows of a trace', () => {
  it('tells the waits of a model from its words', () => {
    const calls = [
      model({
        id: 'a',
        durationMs: 50,
        waitMs: 100,
        error: { code: 'x', message: '', params: {} },
      }),
      model({
        id: 'b',
        attempt: 2,
        startedAt: 1_150,
        durationMs: 80,
        firstTokenMs: 30,
        stop: 'end',
      }),
    ];
    const of = trace({ modelCalls: calls, endedAt: 1_240 });
    expect(parts(of)).toEqual([
      ['first 0-50', 'backoff 50-150'],
      ['first 150-180', 'stream 180-230'],
    ]);
    const { spans, total } = traceSpans(of, 0);
    expect(total).toBe(240);
    expect(spans.map(({ state }) => state)).toEqual(['failed', 'done']);
  });

  it('tells the waits of a tool: for a place, a person, a form', () => {
    const call = tool({
      requestedAt: 1_010,
      askedAt: 1_020,
      answeredAt: 1_060,
      startedAt: 1_070,
      endedAt: 1_170,
      forms: [{ shownAt: 1_080, answeredAt: 1_120, outcome: 'accepted' }],
    });
    expect(parts(trace({ toolCalls: [call], endedAt: 1_200 }))).toEqual([
      ['queue 10-20', 'approval 20-60', 'queue 60-70', 'run 70-80', 'form 80-120', 'run 120-170'],
    ]);
  });

  it('goes on with what is not over', () => {
    const calls = [tool({ status: 'running', startedAt: 1_010 })];
    const asks = [tool({ status: 'pending', askedAt: 1_010 })];
    expect(parts(trace({ toolCalls: calls }), 1_500)).toEqual([['queue 0-10', 'run 10-500']]);
    expect(parts(trace({ toolCalls: asks }), 1_500)).toEqual([['queue 0-10', 'approval 10-500']]);
    expect(traceSpans(trace({ toolCalls: asks }), 1_500).spans[0]?.state).toBe('asking');
    expect(
      traceSpans(trace({ modelCalls: [model({ id: undefined })] }), 1_500).spans[0],
    ).toMatchObject({ state: 'running', to: 500 });
  });

  it('keeps the order of time, and shows also what took no time', () => {
    const of = trace({
      modelCalls: [
        model({ id: 'one', durationMs: 0, stop: 'end' }),
        model({ id: 'two', messageId: 'n', startedAt: 1_005, durationMs: 1, stop: 'end' }),
      ],
      toolCalls: [tool({ endedAt: 1_000 })],
      endedAt: 1_006,
    });
    const { spans } = traceSpans(of, 0);
    expect(spans.map(({ id }) => id)).toEqual(['one', 'call', 'two']);
    expect(spans.every(({ segments }) => segments.length > 0)).toBe(true);
    expect(spans.flatMap((span) => (span.kind === 'model' ? [span.step] : []))).toEqual([1, 2]);
  });
});

describe('a call of the audit log', () => {
  const entry = (detail: Record<string, unknown>, action = 'tool.called'): AuditView => ({
    id: 'e',
    at: 5_000,
    door: 'key:k',
    action,
    subject: 'tool_id',
    detail,
    address: '',
  });

  it('is a row with what is known of it', () => {
    const known = { callId: 'c', status: 'failed', durationMs: 40, displayName: 'S/look' };
    expect(entrySpan(entry(known))).toMatchObject({
      to: 40,
      state: 'failed',
      call: { displayName: 'S/look', requestedAt: 4_960, endedAt: 5_000, durationMs: 40 },
    });
    expect(entrySpan(entry({ callId: 'c', ok: true }))).toMatchObject({
      state: 'done',
      call: { displayName: 'tool_id' },
    });
    expect(entrySpan(entry({}, 'login'))).toBeUndefined();
  });

  it('says where it ran, where that is known', () => {
    const known = { callId: 'c', ok: true, runsOn: 'browser', device: 'Chrome' };
    expect(entrySpan(entry(known))?.call).toMatchObject({ runsOn: 'browser', device: 'Chrome' });
    const unknown = entrySpan(entry({ callId: 'c', ok: true, runsOn: 'moon', device: 7 }));
    expect(unknown?.call).not.toHaveProperty('runsOn');
    expect(unknown?.call).not.toHaveProperty('device');
  });

  it('has its waits where its trace is kept', () => {
    const call = tool({
      startedAt: 1_000,
      endedAt: 1_100,
      forms: [{ shownAt: 1_020, answeredAt: 1_070, outcome: 'accepted' }],
    });
    const { segments, from, to } = callSpan(call);
    expect([from, to]).toEqual([0, 100]);
    expect(segments.map(({ kind, from, to }) => `${kind} ${from}-${to}`)).toEqual([
      'run 0-20',
      'form 20-70',
      'run 70-100',
    ]);
    expect(callSpan(tool({ endedAt: 1_000 }))).toMatchObject({ to: 1, state: 'done' });
  });
});

describe('the time axis', () => {
  it.each([
    [1, 5],
    [37, 3],
    [999, 4],
    [60_000, 3],
    [61_234, 3],
  ])('of %d ms has at least %d round steps', (total, least) => {
    const found = ticks(total);
    expect(found[0]).toBe(0);
    expect(found.length).toBeGreaterThanOrEqual(least);
    expect(found.length).toBeLessThanOrEqual(7);
    expect(found.at(-1)).toBeLessThanOrEqual(total);
  });
});
