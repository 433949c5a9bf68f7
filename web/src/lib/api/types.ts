// Generated from Rust by `make types`. Do not edit.

export type AppInfo = { version: string, model: ModelInfo, };

export type ModelInfo = { id: string, name: string, 
/**
 * The built-in assistant: no language model is connected.
 */
builtin: boolean, };

export type ChatSummary = { id: ChatId, 
/**
 * Empty until the first message gives it one.
 */
title: string, createdAt: number, updatedAt: number, 
/**
 * The turn that is running now.
 */
running?: TurnId, };

export type ChatChange = { title?: string, };

export type StartTurn = { text: string, 
/**
 * These tools alone; left out, all of them.
 */
toolIds?: Array<ToolId>, modelId?: string, };

export type TurnStarted = { turnId: TurnId, };

export type MessageView = { id: MessageId, turnId: TurnId, role: Role, text: string, parts: Array<Part>, toolCalls: Array<CallRecord>, createdAt: number, };

export type ToolView = { toolId: ToolId, displayName: string, toolName: string, title: string, description: string, parameters: unknown, annotations: Annotations, source: SourceView, runsOn: RunsOn, enabled: boolean, policy: Policy, };

export type SourceView = { id: SourceId, kind: SourceKind, name: string, title: string, } & ({ "state": "starting" } | { "state": "ready" } | { "state": "failed", why: string, });

export type CallTool = { arguments: unknown, };

export type CallToolAnswer = { ok: boolean, content: Array<Content>, structured?: unknown, error?: ToolError, durationMs: number, };

export type ErrorBody = { error: ErrorDetail, };

export type ErrorDetail = { code: string, 
/**
 * One sentence that says what to do.
 */
message: string, };

export type ServerFrame = { "type": "event" } & Event | { "type": "delta" } & Delta | { "type": "caughtUp", chatId: ChatId, seq: number, } | { "type": "error", chatId?: ChatId, error: ErrorDetail, };

export type ClientFrame = { "type": "subscribe", chatId: ChatId, after: number, } | { "type": "unsubscribe", chatId: ChatId, };

export type Event = { chatId: ChatId, 
/**
 * 1, 2, 3 … within the chat, without gaps.
 */
seq: number, 
/**
 * Milliseconds since 1970.
 */
at: number, body: EventBody, };

export type EventBody = { "type": "chatTitled", title: string, } | { "type": "turnStarted", turnId: TurnId, message: MessageRecord, } | { "type": "messageStarted", message: MessageRecord, } | { "type": "messageFinished", messageId: MessageId, parts: Array<Part>, } | { "type": "callRequested", call: CallRecord, } | { "type": "callStarted", callId: CallId, } | { "type": "callFinished", callId: CallId, status: CallStatus, output?: ToolOutput, error?: ToolError, durationMs: number, } | { "type": "turnFinished", turnId: TurnId, outcome: TurnOutcome, usage: Usage, };

export type TurnOutcome = { "kind": "done" } | { "kind": "stopped" } | { "kind": "stepLimit" } | { "kind": "interrupted", message: string, } | { "kind": "failed", message: string, };

export type Delta = { chatId: ChatId, messageId: MessageId, 
/**
 * Which part of the message this belongs to.
 */
part: number, kind: DeltaKind, offset: number, text: string, };

export type DeltaKind = { "kind": "text" } | { "kind": "thinking" } | { "kind": "input", displayName: string, };

export type MessageRecord = { id: MessageId, chatId: ChatId, turnId: TurnId, role: Role, parts: Array<Part>, 
/**
 * Milliseconds since 1970.
 */
createdAt: number, };

export type Role = "user" | "assistant";

export type Part = { "type": "text", text: string, } | { "type": "thinking", text: string, } | { "type": "call" } & ToolCall;

export type Usage = { inputTokens: number, outputTokens: number, };

export type ToolCall = { id: CallId, toolId: ToolId, 
/**
 * The arguments. What a model sent that was no JSON stands here as the
 * string it sent: no tool accepts a bare string, so validation answers it.
 */
input: unknown, };

export type CallRecord = { id: CallId, messageId: MessageId, toolId: ToolId, 
/**
 * The display name at that time.
 */
displayName: string, runsOn: RunsOn, input: unknown, status: CallStatus, output?: ToolOutput, error?: ToolError, durationMs?: number, };

export type CallStatus = "pending" | "running" | "done" | "failed" | "cancelled" | "lost";

export type ToolOutput = { content: Array<Content>, };

export type Content = { "type": "text", text: string, } | { "type": "image", mediaType: string, 
/**
 * Base64.
 */
data: string, } | { "type": "json", value: unknown, } | { "type": "blob", blobId: BlobId, mediaType: string, bytes: number, };

export type ToolError = { kind: ErrorKind, message: string, };

export type ErrorKind = "unknown_tool" | "invalid_input" | "denied" | "timed_out" | "cancelled" | "unavailable" | "failed" | "lost";

export type Annotations = { readOnly: boolean, destructive: boolean, idempotent: boolean, 
/**
 * Reaches beyond this machine.
 */
openWorld: boolean, 
/**
 * A successful call means the work is done: the turn ends after it.
 */
endsTurn: boolean, };

export type RunsOn = "server" | "browser";

export type Policy = "allow" | "ask" | "deny";

export type SourceKind = "builtin" | "skill" | "mcp" | "openapi" | "browser";

export type SourceState = { "state": "starting" } | { "state": "ready" } | { "state": "failed", why: string, };

export type BlobId = string;

export type CallId = string;

export type ChatId = string;

export type MessageId = string;

export type SourceId = string;

export type ToolId = string;

export type TurnId = string;
