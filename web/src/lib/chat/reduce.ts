// A chat is the reduction of its frames. The same function builds it from the
// replayed history and from the live stream, so the two can never disagree.
//
// Every frame may arrive twice without harm. A frame that shows that another
// one got lost is not taken in; it sets `missed`, and the chat is subscribed to
// again from the last event that was.
import type {
  CallProgress,
  Delta,
  Event,
  EventBody,
  AttachedFile,
  OmittedTool,
  MessageId,
  MessageRecord,
  Part,
  ServerFrame,
  TurnId,
  ModelWait,
  PromptProgress,
  UserImage,
} from '$lib/api/types';
import {
  emptyChat,
  type Call,
  type Chat,
  type ArgumentsDraft,
  type Message,
  type Turn,
} from './chat';

export function reduce(chat: Chat, frame: ServerFrame): Chat {
  switch (frame.type) {
    case 'event':
      return frame.chatId === chat.id ? takeEvent(chat, frame) : chat;
    case 'delta':
      return frame.chatId === chat.id ? takeDelta(chat, frame) : chat;
    case 'waiting':
      return frame.chatId === chat.id ? takeWaiting(chat, frame) : chat;
    case 'prompt:progress':
      return frame.chatId === chat.id ? takePromptProgress(chat, frame) : chat;
    case 'progress':
      return frame.chatId === chat.id ? takeProgress(chat, frame) : chat;
    case 'caughtUp':
      return frame.chatId === chat.id ? catchUp(chat, frame.seq) : chat;
    default:
      // An error is for the person, and a newer server may say what we do not know.
      return chat;
  }
}

/** A server that knows less than we do had a backup restored: what we have is no longer so. */
function catchUp(chat: Chat, seq: number): Chat {
  if (seq < chat.seq) return { ...emptyChat(chat.id), missed: true };
  return { ...chat, caughtUp: true, missed: false };
}

/** What a person wrote, of all that a message may hold. */
export function writtenText(message: Pick<MessageRecord, 'parts'>): string {
  return message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
}

/** The pictures that a person showed with it. */
export function shownImages(message: Pick<MessageRecord, 'parts'>): UserImage[] | undefined {
  const images = message.parts.filter((part) => part.type === 'image');
  return images.length > 0 ? images : undefined;
}

/** The files that a person attached to it. */
export function attachedFiles(message: Pick<MessageRecord, 'parts'>): AttachedFile[] | undefined {
  const files = message.parts.flatMap((part) => (part.type === 'file' ? [part.file] : []));
  return files.length > 0 ? files : undefined;
}

function takeEvent(chat: Chat, event: Event): Chat {
  if (event.seq <= chat.seq) return chat;
  if (event.seq > chat.seq + 1) return { ...chat, missed: true };
  return { ...takeBody(chat, event.body, event.at), seq: event.seq };
}

function takeBody(chat: Chat, body: EventBody, at: number): Chat {
  switch (body.type) {
    case 'chatTitled':
      return { ...chat, title: body.title };
    case 'turnStarted':
      return {
        ...chat,
        turns: addTurn(chat, startTurn(body, body.branch ? body.branch.after : chat.head, at)),
        head: body.turnId,
      };
    case 'branchChosen':
      return { ...chat, head: body.turnId };
    case 'toolsLeftOut':
      return changeTurn(
        chat,
        (turn) => turn.id === body.turnId,
        (turn) => ({ ...turn, leftOut: leaveOut(turn.leftOut ?? [], body.tools) }),
      );
    case 'messageStarted':
      return changeTurn(
        chat,
        (turn) => turn.id === body.message.turnId,
        (turn) => ({
          ...turn,
          messages: [
            ...turn.messages,
            { id: body.message.id, parts: body.message.parts, startedAt: at },
          ],
        }),
      );
    case 'messageFinished':
      return changeTurn(
        chat,
        (turn) => turn.messages.some((message) => message.id === body.messageId),
        (turn) => finishMessage(turn, body.messageId, body.parts, at),
      );
    case 'callRequested':
      return changeTurn(
        chat,
        (turn) => turn.messages.some((message) => message.id === body.call.messageId),
        (turn) => ({ ...turn, calls: { ...turn.calls, [body.call.id]: body.call } }),
      );
    case 'callAsked':
      return changeCall(chat, body.callId, (call) => ({ ...call, asked: true }));
    case 'callAnswered':
      return changeCall(chat, body.callId, (call) => ({
        ...call,
        asked: false,
        verdict: body.verdict,
      }));
    case 'callStarted':
      return changeCall(chat, body.callId, (call) => ({
        ...call,
        status: 'running',
        startedAt: at,
      }));
    case 'formShown':
      return changeCall(chat, body.callId, (call) => ({
        ...call,
        forms: [...(call.forms ?? []), { form: body.form }],
      }));
    case 'formAnswered':
      return changeCall(chat, body.callId, (call) => ({
        ...call,
        forms: call.forms?.map((shown) =>
          shown.form.id === body.formId ? { ...shown, outcome: body.outcome } : shown,
        ),
      }));
    case 'callFinished':
      return changeCall(chat, body.callId, (call) => ({
        ...call,
        status: body.status,
        output: body.output,
        error: body.error,
        durationMs: body.durationMs,
        progress: undefined,
      }));
    case 'turnFinished':
      return changeTurn(
        chat,
        (turn) => turn.id === body.turnId,
        (turn) =>
          closeTurn({ ...turn, outcome: body.outcome, usage: body.usage, cost: body.cost }, at),
      );
    default:
      // An event of a newer server: it counts, but changes nothing here.
      return chat;
  }
}

function startTurn(
  { turnId, message, model }: Extract<EventBody, { type: 'turnStarted' }>,
  after: TurnId | null | undefined,
  at: number,
): Turn {
  return {
    id: turnId,
    parent: after ?? undefined,
    text: writtenText(message),
    images: shownImages(message),
    files: attachedFiles(message),
    startedAt: at,
    model,
    messages: [],
    calls: {},
  };
}

/** A tool may be omitted at every step of a turn; it is listed once, with the latest reason. */
function leaveOut(before: readonly OmittedTool[], now: readonly OmittedTool[]): OmittedTool[] {
  return [...new Map([...before, ...now].map((tool) => [tool.toolId, tool])).values()];
}

function finishMessage(turn: Turn, id: string, parts: Part[], at: number): Turn {
  const calls = { ...turn.calls };
  const messages = turn.messages.map((message) => {
    if (message.id !== id) return message;
    parts.forEach((part, index) => {
      if (part.type !== 'call') return;
      // The record of the call follows in its own event. Until then the card
      // keeps the name it had while its arguments were being written.
      const draft = message.parts[index];
      const displayName = draft?.type === 'draft' ? draft.displayName : part.toolId;
      calls[part.id] ??= { ...part, messageId: id, displayName, status: 'pending', asked: false };
    });
    return { ...message, parts, finishedAt: at, wait: undefined, prompt: undefined };
  });
  return { ...turn, messages, calls };
}

/** A turn that is over has nothing open in it, whatever the history failed to say. */
function closeTurn(turn: Turn, at: number): Turn {
  const left = turn.outcome?.kind === 'stopped' ? 'cancelled' : 'lost';
  const calls: Record<string, Call> = {};
  for (const [id, call] of Object.entries(turn.calls)) {
    const open = call.status === 'pending' || call.status === 'running';
    calls[id] = open ? { ...call, status: left, progress: undefined } : call;
  }
  const messages = turn.messages.map((message) =>
    message.finishedAt === undefined
      ? {
          ...message,
          // Half-written arguments were never a call.
          parts: message.parts.filter((part) => part.type !== 'draft'),
          finishedAt: at,
        }
      : message,
  );
  return { ...turn, calls, messages };
}

function takeDelta(chat: Chat, delta: Delta): Chat {
  const turn = chat.turns.findLast((turn) =>
    turn.messages.some((message) => message.id === delta.messageId),
  );
  const message = turn?.messages.find((message) => message.id === delta.messageId);
  if (!turn || !message) return { ...chat, missed: true };
  if (message.finishedAt !== undefined) return chat;

  const old = message.parts[delta.part];
  const before = old && 'text' in old ? old.text : '';
  if (delta.offset > before.length) return { ...chat, missed: true };
  if (old && delta.offset + delta.text.length <= before.length) return chat;

  const written = write(delta, before.slice(0, delta.offset) + delta.text);
  return changeTurn(
    chat,
    (other) => other.id === turn.id,
    (turn) => ({
      ...turn,
      messages: turn.messages.map((other) =>
        other.id === message.id ? setPart(other, delta.part, written) : other,
      ),
    }),
  );
}

function takeWaiting(chat: Chat, { messageId, waitMs }: ModelWait): Chat {
  return changeUnfinished(chat, messageId, { wait: { ms: waitMs }, prompt: undefined });
}

function takePromptProgress(chat: Chat, { messageId, processed, total }: PromptProgress): Chat {
  return changeUnfinished(chat, messageId, { wait: undefined, prompt: { processed, total } });
}

/** One that comes late is for a message that is over. */
function changeUnfinished(chat: Chat, messageId: MessageId, change: Partial<Message>): Chat {
  const isIt = (message: Message) => message.id === messageId && message.finishedAt === undefined;
  return changeTurn(
    chat,
    (turn) => turn.messages.some(isIt),
    (turn) => ({
      ...turn,
      messages: turn.messages.map((message) =>
        isIt(message) ? { ...message, ...change } : message,
      ),
    }),
  );
}

/** One that comes late is for a call that is over. */
function takeProgress(chat: Chat, { callId, progress, total, message }: CallProgress): Chat {
  return changeCall(chat, callId, (call) =>
    call.status === 'running' ? { ...call, progress: { progress, total, message } } : call,
  );
}

function write(delta: Delta, text: string): Part | ArgumentsDraft {
  return delta.kind.kind === 'input'
    ? { type: 'draft', displayName: delta.kind.displayName, text }
    : { type: delta.kind.kind, text };
}

function setPart(message: Message, index: number, part: Part | ArgumentsDraft): Message {
  const parts = [...message.parts];
  // A part that nothing was written to still holds its place.
  while (parts.length < index) parts.push({ type: 'text', text: '' });
  parts[index] = part;
  return { ...message, parts, wait: undefined, prompt: undefined };
}

/** Changes the latest turn that fits: call ids come from models, which reuse them. */
function changeTurn(chat: Chat, fits: (turn: Turn) => boolean, change: (turn: Turn) => Turn): Chat {
  const index = chat.turns.findLastIndex(fits);
  const turn = chat.turns[index];
  if (!turn) return chat;
  const turns = turnsToChange(chat);
  turns[index] = change(turn);
  return { ...chat, turns };
}

function addTurn(chat: Chat, turn: Turn): readonly Turn[] {
  const turns = turnsToChange(chat);
  turns.push(turn);
  return turns;
}

/** A list that may be changed. Nobody has seen the one of a chat whose history is still coming, and
    a new one with each of its events would take longer than everything else. */
function turnsToChange({ caughtUp, turns }: Chat): Turn[] {
  return caughtUp ? [...turns] : (turns as Turn[]);
}

function changeCall(chat: Chat, id: string, change: (call: Call) => Call): Chat {
  return changeTurn(
    chat,
    (turn) => id in turn.calls,
    (turn) => {
      const call = turn.calls[id];
      return call ? { ...turn, calls: { ...turn.calls, [id]: change(call) } } : turn;
    },
  );
}
