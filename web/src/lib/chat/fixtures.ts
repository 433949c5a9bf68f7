// Frames for tests, numbered and timed as a server would.
import type {
  Branch,
  CallRecord,
  ChatSummary,
  EventBody,
  ModelRef,
  Part,
  ServerFrame,
  Usage,
} from '$lib/api/types';
import { emptyChat, type Chat } from './chat';
import { reduce } from './reduce';

/** As the built-in assistant counts. */
export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Tells events in order: each gets the next number and happens a second later. */
export class FrameBuilder {
  frames: ServerFrame[] = [];
  #seq = 0;

  event(body: EventBody): this {
    this.#seq += 1;
    this.frames.push({ type: 'event', chatId: 'c1', seq: this.#seq, at: this.#seq * 1000, body });
    return this;
  }

  turnStarted(text: string, turnId = 't1', model?: ModelRef, branch?: Branch): this {
    return this.event({
      type: 'turnStarted',
      turnId,
      message: {
        id: `${turnId}-user`,
        chatId: 'c1',
        turnId,
        role: 'user',
        parts: [{ type: 'text', text }],
        createdAt: 0,
      },
      branch,
      door: 'page',
      model,
    });
  }

  messageStarted(id: string, turnId = 't1'): this {
    return this.event({
      type: 'messageStarted',
      message: { id, chatId: 'c1', turnId, role: 'assistant', parts: [], createdAt: 0 },
    });
  }

  messageFinished(messageId: string, ...parts: Part[]): this {
    return this.event({ type: 'messageFinished', messageId, parts });
  }

  callRequested(id: string, messageId: string): this {
    return this.event({ type: 'callRequested', call: record(id, messageId) });
  }

  done(turnId = 't1'): this {
    return this.event({
      type: 'turnFinished',
      turnId,
      outcome: { kind: 'done' },
      usage: noUsage,
    });
  }

  replay(chat: Chat = emptyChat('c1')): Chat {
    return replay(this.frames, chat);
  }
}

export function replay(frames: ServerFrame[], chat: Chat = emptyChat('c1')): Chat {
  return frames.reduce(reduce, chat);
}

export function delta(messageId: string, part: number, offset: number, text: string): ServerFrame {
  return {
    type: 'delta',
    chatId: 'c1',
    messageId,
    part,
    kind: { kind: 'text' },
    offset,
    text,
  };
}

export const caughtUp = (seq: number): ServerFrame => ({ type: 'caughtUp', chatId: 'c1', seq });

export function callPart(id: string): Part {
  return { type: 'call', id, toolId: 'builtin_current_time', input: { timezone: 'Asia/Tokyo' } };
}

export function record(id: string, messageId: string): CallRecord {
  return {
    id,
    messageId,
    toolId: 'builtin_current_time',
    displayName: 'Time/current time',
    runsOn: 'server',
    input: { timezone: 'Asia/Tokyo' },
    status: 'pending',
    asked: false,
  };
}

export function summary(id: string, more: Partial<ChatSummary> = {}): ChatSummary {
  return {
    id,
    title: id,
    createdAt: 0,
    updatedAt: 0,
    pinned: false,
    archived: false,
    asking: false,
    temporary: false,
    ...more,
  };
}
