// Generated from Rust by `make types`. Do not edit.

export type AppInfo = { version: string, model: ModelInfo, };

export type ModelInfo = { id: ModelId, name: string, 
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
toolIds?: Array<ToolId>, 
/**
 * Left out, the default one.
 */
modelId?: ModelId, };

export type TurnStarted = { turnId: TurnId, };

export type MessageView = { id: MessageId, turnId: TurnId, role: Role, text: string, parts: Array<Part>, toolCalls: Array<CallRecord>, createdAt: number, };

export type ToolView = { toolId: ToolId, displayName: string, toolName: string, title: string, description: string, parameters: unknown, annotations: Annotations, source: SourceView, runsOn: RunsOn, enabled: boolean, policy: Policy, };

export type SourceView = { id: SourceId, kind: SourceKind, name: string, title: string, } & ({ "state": "starting" } | { "state": "ready" } | { "state": "failed", why: string, });

export type CallTool = { arguments: unknown, };

export type CallToolAnswer = { ok: boolean, content: Array<Content>, structured?: unknown, error?: ToolError, durationMs: number, };

export type ModelView = { id: ModelId, name: string, origin: ModelOrigin, 
/**
 * The endpoint it is offered by: "OpenAI", "Ollama".
 */
endpoint?: string, 
/**
 * Not there for the built-in assistant.
 */
provider?: WireFormat, baseUrl?: string, 
/**
 * What the endpoint calls it.
 */
model?: string, hasKey: boolean, parameters: Record<string, unknown>, toolMode: ToolMode, toolsSeen?: ToolUse, contextTokens?: number, prices?: Prices, 
/**
 * Used where a message names no model.
 */
isDefault: boolean, 
/**
 * Has settings of its own here, which `DELETE` removes.
 */
saved: boolean, 
/**
 * Why it cannot be asked now, in a sentence that says what to do.
 */
unusable?: string, };

export type ModelOrigin = "builtin" | "added" | "environment" | "local";

export type NewModel = { 
/**
 * The model's own name where it is left out.
 */
name?: string, provider: WireFormat, baseUrl: string, key?: string, model: string, parameters?: Record<string, unknown>, toolMode?: ToolMode, contextTokens?: number, prices?: Prices, isDefault?: boolean, };

export type ModelChange = { name?: string, provider?: WireFormat, baseUrl?: string, 
/**
 * An empty one removes it.
 */
key?: string, model?: string, parameters?: Record<string, unknown>, toolMode?: ToolMode, 
/**
 * Null forgets it.
 */
contextTokens?: number | null, 
/**
 * Null forgets them.
 */
prices?: Prices | null, isDefault?: boolean, };

export type Discover = { baseUrl: string, 
/**
 * Left out, it is found out.
 */
provider?: WireFormat, key?: string, 
/**
 * Use the key that is stored with this model.
 */
modelId?: ModelId, };

export type Discovered = { provider: WireFormat, 
/**
 * As it should be saved: `http://localhost:11434` becomes `http://localhost:11434/v1`.
 */
baseUrl: string, models: Array<OfferedModel>, };

export type OfferedModel = { model: string, contextTokens?: number, };

export type EndpointView = { id: string, 
/**
 * "OpenAI", "Ollama"
 */
name: string, origin: ModelOrigin, provider: WireFormat, baseUrl: string, models: number, 
/**
 * Why it offers nothing now. A server on this machine that is not running is not listed at all.
 */
error?: string, };

export type TestFrame = { "type": "text", text: string, } | { "type": "tryingTools", mode: ToolUse, } | { "type": "finished", 
/**
 * Whether it answered at all.
 */
ok: boolean, 
/**
 * What went wrong, in one sentence that says what to do.
 */
message?: string, tools?: ToolUse, 
/**
 * From the question to the first word.
 */
firstWordMs?: number, };

export type ErrorBody = { error: ErrorDetail, };

export type ErrorDetail = { code: string, 
/**
 * One sentence that says what to do.
 */
message: string, };

export type ServerFrame = { "type": "event" } & Event | { "type": "delta" } & Delta | { "type": "waiting" } & Waiting | { "type": "caughtUp", chatId: ChatId, seq: number, } | { "type": "error", chatId?: ChatId, error: ErrorDetail, };

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

export type EventBody = { "type": "chatTitled", title: string, } | { "type": "turnStarted", turnId: TurnId, message: MessageRecord, 
/**
 * Who is asked.
 */
model?: ModelRef, } | { "type": "toolsLeftOut", turnId: TurnId, tools: Array<LeftOut>, } | { "type": "messageStarted", message: MessageRecord, } | { "type": "messageFinished", messageId: MessageId, parts: Array<Part>, } | { "type": "callRequested", call: CallRecord, } | { "type": "callStarted", callId: CallId, } | { "type": "callFinished", callId: CallId, status: CallStatus, output?: ToolOutput, error?: ToolError, durationMs: number, } | { "type": "turnFinished", turnId: TurnId, outcome: TurnOutcome, usage: Usage, 
/**
 * Where the model has prices.
 */
cost?: Cost, };

export type TurnOutcome = { "kind": "done" } | { "kind": "stopped" } | { "kind": "stepLimit" } | { "kind": "interrupted", message: string, } | { "kind": "failed", message: string, };

export type Delta = { chatId: ChatId, messageId: MessageId, 
/**
 * Which part of the message this belongs to.
 */
part: number, kind: DeltaKind, offset: number, text: string, };

export type DeltaKind = { "kind": "text" } | { "kind": "thinking" } | { "kind": "input", displayName: string, };

export type Waiting = { chatId: ChatId, messageId: MessageId, waitMs: number, };

export type MessageRecord = { id: MessageId, chatId: ChatId, turnId: TurnId, role: Role, parts: Array<Part>, 
/**
 * Milliseconds since 1970.
 */
createdAt: number, };

export type Role = "user" | "assistant";

export type Part = { "type": "text", text: string, } | { "type": "thinking", text: string, } | { "type": "call", id: CallId, toolId: ToolId, 
/**
 * The arguments. What a model sent that was no JSON stands here as the
 * string it sent: no tool accepts a bare string, so validation answers it.
 */
input: unknown, } | { "type": "opaque", };

export type Usage = { 
/**
 * All that was read, from the cache or not.
 */
inputTokens: number, 
/**
 * All that was written, thinking included.
 */
outputTokens: number, 
/**
 * How much of the input came from the provider's cache, and how much was put there.
 */
cacheReadTokens: number, cacheWriteTokens: number, };

export type ModelRef = { id: ModelId, name: string, };

export type LeftOut = { toolId: ToolId, displayName: string, why: string, };

export type Cost = { currency: string, 
/**
 * Millionths of the currency's unit.
 */
micros: number, };

export type Prices = { 
/**
 * "USD", "CNY", "€": shown as it is.
 */
currency: string, input: number, output: number, 
/**
 * The price of input where it is left out.
 */
cacheRead?: number, cacheWrite?: number, };

export type WireFormat = "openai" | "anthropic";

export type ToolMode = "auto" | "native" | "constrained";

export type ToolUse = "native" | "constrained" | "none";

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

export type ModelId = string;

export type SourceId = string;

export type ToolId = string;

export type TurnId = string;
