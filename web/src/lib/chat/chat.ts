// What a page knows of one chat. Values are never changed in place: `reduce`
// makes new ones, so that a screen can tell by identity what it has to redraw.
// The one exception is the list of turns until the history is complete.
import type {
  CallId,
  CallProgress,
  CallRecord,
  ChatId,
  Cost,
  AttachedFile,
  Form,
  FormOutcome,
  OmittedTool,
  MessageId,
  ModelRef,
  Part,
  RunsOn,
  TurnId,
  TurnOutcome,
  Usage,
  UserImage,
} from '$lib/api/types';

export interface Chat {
  id: ChatId;
  title: string;
  /** The number of the last event taken in. */
  seq: number;
  /** All turns of all branches, in the order they began. */
  turns: readonly Turn[];
  /** The last turn of the branch on show. */
  head?: TurnId;
  /** The history is complete; further frames are live. */
  caughtUp: boolean;
  /** A frame got lost: the subscriber must resubscribe after `seq`. */
  missed: boolean;
}

export interface Turn {
  id: TurnId;
  /** The turn before it on its branch. Absent: it begins the chat. */
  parent?: TurnId;
  /** What the user wrote. */
  text: string;
  /** What they showed with it. */
  images?: readonly UserImage[];
  /** What they attached to it. */
  files?: readonly AttachedFile[];
  startedAt: number;
  /** Who is asked; turns of older servers do not say. */
  model?: ModelRef;
  /** Tools that this model was not offered. */
  leftOut?: readonly OmittedTool[];
  /** One per step of the model; the screen joins them into one answer. */
  messages: readonly Message[];
  calls: Readonly<Record<CallId, Call>>;
  /** Absent while the turn runs. */
  outcome?: TurnOutcome;
  /** What it took, known once it is over; a cost only where the model has prices. */
  usage?: Usage;
  cost?: Cost;
}

export interface Message {
  id: MessageId;
  parts: readonly (Part | ArgumentsDraft)[];
  startedAt: number;
  /** Absent while the message is being written. */
  finishedAt?: number;
  /** Nothing was said yet, and the model's busy server is asked again after so long. */
  wait?: { ms: number };
  /** Nothing was said yet, and so many tokens of what the model was sent are read. */
  prompt?: { processed: number; total: number };
}

/** The arguments of a call that the model is still writing. */
export interface ArgumentsDraft {
  type: 'draft';
  displayName: string;
  text: string;
}

export interface Call extends Omit<CallRecord, 'runsOn'> {
  /** Unknown between the message that asks for a call and the record of it. */
  runsOn?: RunsOn;
  startedAt?: number;
  /** What it asked while it ran, oldest first. */
  forms?: readonly ShownForm[];
  /** How far it says it is. Only while it runs. */
  progress?: Pick<CallProgress, 'progress' | 'total' | 'message'>;
}

export interface ShownForm {
  form: Form;
  /** Absent until it was answered. */
  outcome?: FormOutcome;
}

export function emptyChat(id: ChatId): Chat {
  return { id, title: '', seq: 0, turns: [], caughtUp: false, missed: false };
}

/** The turn that is running now. Only the last one that began can be. */
export function runningTurn(chat: Chat): Turn | undefined {
  const last = chat.turns.at(-1);
  return last && !last.outcome ? last : undefined;
}

/** The branch on show: the turns that lead to the head, itself included. */
export function shownTurns(chat: Chat): readonly Turn[] {
  const byId = new Map(chat.turns.map((turn) => [turn.id, turn]));
  const path: Turn[] = [];
  let next = chat.head === undefined ? undefined : byId.get(chat.head);
  // A tree has no way back up; a damaged one must not hang us.
  while (next && path.length < chat.turns.length) {
    path.push(next);
    next = next.parent === undefined ? undefined : byId.get(next.parent);
  }
  return path.reverse();
}

/** Whether the call waits for a person to allow it. */
export function isAwaitingAnswer(call: Call): boolean {
  return call.asked && !call.verdict && call.status === 'pending';
}

/** The form that the call waits for. */
export function openForm(call: Call): Form | undefined {
  if (call.status !== 'running') return undefined;
  return call.forms?.find(({ outcome }) => !outcome)?.form;
}

/** The first call that waits for a person: to allow it, or to fill in a form. */
export function awaitingCall(chat: Chat): Call | undefined {
  const turn = runningTurn(chat);
  return turn && Object.values(turn.calls).find((call) => isAwaitingAnswer(call) || openForm(call));
}
