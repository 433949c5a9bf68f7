// A trace as rows of a waterfall: each call of a model or a tool from its beginning to its end, in
// parts that say what it was doing. Times are milliseconds from the start of the turn.
import type {
  AuditView,
  CallStatus,
  ModelCallTrace,
  RunsOn,
  ToolCallTrace,
  TurnTrace,
} from '$lib/api/types';

/** What a call was doing: waiting for a place, a person, a form, the first token or the next
    attempt, or working. */
export type SegmentKind = 'queue' | 'approval' | 'form' | 'first' | 'stream' | 'backoff' | 'run';

export interface Segment {
  kind: SegmentKind;
  from: number;
  to: number;
}

export type SpanState = 'running' | 'asking' | 'done' | 'failed' | 'stopped';

interface SpanBase {
  id: string;
  from: number;
  to: number;
  state: SpanState;
  /** At least one, in the order of time. */
  segments: readonly Segment[];
}

export interface ModelSpan extends SpanBase {
  kind: 'model';
  call: ModelCallTrace;
  /** Its step, from 1: attempts of one answer share it. */
  step: number;
}

export interface ToolSpan extends SpanBase {
  kind: 'tool';
  call: RecordedCall;
}

/** Entries of the audit log of before it had that do not say where a call ran. */
type RecordedCall = Omit<ToolCallTrace, 'runsOn'> & { runsOn?: RunsOn };

export type Span = ModelSpan | ToolSpan;

/** The rows in the order they began, and how long all of it takes. */
export function traceSpans(trace: TurnTrace, now: number): { spans: Span[]; total: number } {
  const end = trace.endedAt ?? Math.max(now, trace.now ?? trace.startedAt);
  const at = (time: number) => Math.max(0, time - trace.startedAt);
  const steps = [...new Set(trace.modelCalls.map((call) => call.messageId))];
  const models = trace.modelCalls.map((call, index): ModelSpan => {
    const from = at(call.startedAt);
    const to = call.durationMs === undefined ? at(end) : from + call.durationMs;
    return {
      kind: 'model',
      id: call.id ?? `${call.messageId}-${index}`,
      call,
      step: steps.indexOf(call.messageId) + 1,
      from,
      to: to + (call.waitMs ?? 0),
      state: modelState(call),
      segments: modelSegments(call, from, to),
    };
  });
  const over = trace.endedAt !== undefined;
  const tools = trace.toolCalls.map((call) => toolSpan(call, at, end, over));
  const spans = [...models, ...tools].sort((a, b) => a.from - b.from || order(a) - order(b));
  const total = Math.max(1, at(end), ...spans.map((span) => span.to));
  return { spans, total };
}

/** A call that has ended, as a row of its own. */
export function callSpan(call: RecordedCall): ToolSpan {
  const at = (time: number) => Math.max(0, time - call.requestedAt);
  const span = toolSpan(call, at, call.requestedAt, true);
  return span.to > 0 ? span : { ...span, to: 1, segments: [{ kind: 'run', from: 0, to: 1 }] };
}

/** A call that the audit log tells of: what there is of it. */
export function entrySpan(entry: AuditView): ToolSpan | undefined {
  const { callId, status, durationMs, displayName, ok, runsOn, device } = entry.detail;
  if (entry.action !== 'tool.called' || typeof callId !== 'string') return undefined;
  const took = typeof durationMs === 'number' ? durationMs : 0;
  const known = ['done', 'failed', 'cancelled', 'lost'].find((word) => word === status);
  const place = (['server', 'browser'] as const).find((word) => word === runsOn);
  return callSpan({
    callId,
    messageId: '',
    toolId: entry.subject,
    displayName: typeof displayName === 'string' && displayName ? displayName : entry.subject,
    ...(place && { runsOn: place }),
    ...(typeof device === 'string' && { device }),
    status: (known ?? (ok === true ? 'done' : 'failed')) as CallStatus,
    requestedAt: entry.at - took,
    startedAt: entry.at - took,
    endedAt: entry.at,
    ...(typeof durationMs === 'number' && { durationMs }),
    forms: [],
    input: '',
  });
}

/** Where the lines of the time axis stand: four to seven of them, at round figures. */
export function ticks(total: number): number[] {
  const rough = total / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const count = Math.floor(total / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** The model speaks first where both begin in the same millisecond. */
const order = (span: Span) => (span.kind === 'model' ? 0 : 1);

function modelState(call: ModelCallTrace): SpanState {
  if (call.durationMs === undefined) return 'running';
  if (call.error) return 'failed';
  return call.stop === undefined && call.id !== undefined ? 'stopped' : 'done';
}

function modelSegments(call: ModelCallTrace, from: number, to: number): Segment[] {
  const first = call.firstTokenMs === undefined ? to : Math.min(to, from + call.firstTokenMs);
  return filled([
    { kind: 'first', from, to: first },
    { kind: 'stream', from: first, to },
    { kind: 'backoff', from: to, to: to + (call.waitMs ?? 0) },
  ]);
}

function toolSpan(
  call: RecordedCall,
  at: (time: number) => number,
  end: number,
  over: boolean,
): ToolSpan {
  const from = at(call.requestedAt);
  const to = Math.max(from, at(call.endedAt ?? end));
  return {
    kind: 'tool',
    id: call.callId,
    call,
    from,
    to,
    state: toolState(call, over),
    segments: toolSegments(call, at, from, to),
  };
}

function toolState(call: RecordedCall, over: boolean): SpanState {
  switch (call.status) {
    case 'done':
      return 'done';
    case 'cancelled':
      return 'stopped';
    case 'failed':
    case 'lost':
      return call.verdict === 'denied' ? 'stopped' : 'failed';
    case 'pending':
    case 'running': {
      if (over) return 'stopped';
      const asks = call.askedAt !== undefined && call.answeredAt === undefined;
      const form = call.forms.some(({ answeredAt }) => answeredAt === undefined);
      return (asks && call.status === 'pending') || form ? 'asking' : 'running';
    }
  }
}

function toolSegments(
  call: RecordedCall,
  at: (time: number) => number,
  from: number,
  to: number,
): Segment[] {
  const when = (time: number | undefined) => (time === undefined ? to : Math.min(to, at(time)));
  const asked = call.askedAt === undefined ? undefined : when(call.askedAt);
  const answered = asked === undefined ? undefined : when(call.answeredAt);
  const started = when(call.startedAt);
  const segments: Segment[] = [
    { kind: 'queue', from, to: asked ?? started },
    ...(asked !== undefined && answered !== undefined
      ? ([
          { kind: 'approval', from: asked, to: answered },
          { kind: 'queue', from: answered, to: started },
        ] as const)
      : []),
  ];
  let place = started;
  for (const form of call.forms) {
    const shown = Math.max(place, when(form.shownAt));
    const done = Math.max(shown, when(form.answeredAt));
    segments.push({ kind: 'run', from: place, to: shown }, { kind: 'form', from: shown, to: done });
    place = done;
  }
  segments.push({ kind: 'run', from: place, to });
  return filled(segments);
}

/** Those that last; where none does, the last one, which is what it did. */
function filled(segments: Segment[]): Segment[] {
  const lasting = segments.filter(({ from, to }) => to > from);
  return lasting.length > 0 ? lasting : segments.slice(-1);
}
