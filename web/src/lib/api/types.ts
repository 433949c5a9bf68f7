// Generated from Rust by `make types`. Do not edit.

export type AppInfo = { version: string, model: ModelInfo, files: FileLimits, };

export type ModelInfo = { id: ModelId, name: string, 
/**
 * The built-in assistant: no language model is connected.
 */
builtin: boolean, };

export type AuthState = { 
/**
 * Who is logged in.
 */
account?: Account, 
/**
 * There is no account yet: the first one is an admin's.
 */
setup: boolean, 
/**
 * The code that the server printed when it started is needed: for the first account, or
 * to get in where there is one person.
 */
setupCode: boolean, 
/**
 * Everybody may make an account.
 */
signUp: boolean, 
/**
 * There are no accounts to log in to: whoever started the server is the one person.
 */
singleUser: boolean, 
/**
 * The name of the issuer one can log in with instead.
 */
oidc?: string, 
/**
 * What was switched off in their account when they came to it, until
 * `DELETE /api/auth/switched-off` says that they have read it.
 */
switchedOff?: HandoverNotice, };

export type HandoverNotice = { at: number, 
/**
 * By their names. They are still there and can be switched on again.
 */
servers: Array<string>, 
/**
 * What follows is gone, and was so many.
 */
serverLogIns: number, secrets: number, shares: number, 
/**
 * Tools that were used without asking.
 */
allowedTools: number, 
/**
 * Found by browsers on the machines they were on.
 */
localServers: number, };

export type Setup = { name?: string, email?: string, password?: string, 
/**
 * What the server printed, good for one use.
 */
code: string, };

export type LogIn = { email: string, password: string, };

export type SignUp = { name: string, email: string, password: string, 
/**
 * The token of an invitation; needed where sign-up is not open.
 */
invite?: string, };

export type MeChange = { name?: string, email?: string, password?: string, 
/**
 * Needed for another e-mail address or password, where there is one now. Where there
 * is none, coming from the issuer a moment ago is.
 */
currentPassword?: string, 
/**
 * A new password ends all keys, unless they are to stay.
 */
keepKeys?: boolean, };

export type LogOutEverywhere = { 
/**
 * It ends all keys as well, unless they are to stay.
 */
keepKeys?: boolean, };

export type SessionView = { id: SessionId, 
/**
 * The one that asks.
 */
current: boolean, 
/**
 * What the browser says it is.
 */
agent: string, address: string, createdAt: number, lastSeenAt: number, };

export type KeyView = { id: KeyId, name: string, 
/**
 * How it begins: `tn_Ab3d…`
 */
hint: string, scope: KeyScope, createdAt: number, lastUsedAt?: number, };

export type NewKey = { name: string, 
/**
 * Needed where the log-in is older than ten minutes: else `password_needed`. Who has no
 * password logs in anew: `login_needed`.
 */
password?: string, scope?: KeyScope, 
/**
 * The same as `allow` of the scope, for who wants nothing else in it.
 */
allow?: Array<Pattern>, };

export type CreatedKey = { key: string, id: KeyId, name: string, 
/**
 * How it begins: `tn_Ab3d…`
 */
hint: string, scope: KeyScope, createdAt: number, lastUsedAt?: number, };

export type NewAccount = { name: string, email: string, password: string, role?: UserRole, };

export type UserChange = { name?: string, role?: UserRole, disabled?: boolean, 
/**
 * Ends their sessions.
 */
password?: string, 
/**
 * A new password ends their keys as well, unless they are to stay.
 */
keepKeys?: boolean, };

export type InviteView = { id: InviteId, 
/**
 * Only this address may use it.
 */
email?: string, role: UserRole, createdAt: number, expiresAt: number, };

export type NewInvite = { email?: string, role?: UserRole, };

export type CreatedInvite = { token: string, id: InviteId, 
/**
 * Only this address may use it.
 */
email?: string, role: UserRole, createdAt: number, expiresAt: number, };

export type Invitation = { email?: string, expiresAt: number, };

export type SettingsView = { signUp: boolean, };

export type AuditView = { id: string, at: number, userId?: UserId, 
/**
 * Their name now; absent once they are gone.
 */
userName?: string, 
/**
 * "page", "shell", or "key:" and the key's id.
 */
door: string, 
/**
 * "login", "login.failed", "key.created", "model.changed", "tool.called" …
 */
action: string, 
/**
 * What it was done to.
 */
subject: string, detail: Record<string, unknown>, address: string, };

export type ChatSummary = { id: ChatId, 
/**
 * Empty until the first message gives it one.
 */
title: string, createdAt: number, updatedAt: number, pinned: boolean, archived: boolean, 
/**
 * Who answers in it; absent: the general one.
 */
expertId?: ExpertId, folderId?: FolderId, 
/**
 * In no list, and deleted a day after it was last used.
 */
temporary: boolean, 
/**
 * The turn that is running now.
 */
running?: TurnId, 
/**
 * A call waits for somebody: to allow it, or to fill in its form.
 */
asking: boolean, };

export type ChatChange = { title?: string, pinned?: boolean, archived?: boolean, 
/**
 * Who answers from now on.
 */
expertId?: ExpertId, 
/**
 * Null: out of any folder.
 */
folderId?: FolderId | null, 
/**
 * In no list, and deleted a day after it was last used.
 */
temporary?: boolean, };

export type StartTurn = { 
/**
 * A UUID that the client chooses, so that sending the same message twice is one turn: the
 * second time the response is the same. 409 where it is another message's. Left out, the
 * server chooses one.
 */
turnId?: TurnId, 
/**
 * May be left out together with `replaces`: the same again.
 */
text?: string, 
/**
 * These tools alone; left out, those that are switched on.
 */
toolIds?: Array<ToolId>, 
/**
 * Left out, that of the chat's expert, or the default one.
 */
modelId?: ModelId, 
/**
 * The language of the page: which script of Chinese is answered in, where the message is
 * written alike in both.
 */
language?: PageLanguage, 
/**
 * The computer it is said at, by the id of its local tools: where it has any, the model is
 * not offered those of other computers.
 */
deviceId?: string, 
/**
 * Files that were sent before, to go with this message.
 */
fileIds?: Array<FileId>, 
/**
 * Begins a branch beside this turn: what was said there stays, on its own branch.
 */
replaces?: TurnId, };

export type TurnStarted = { turnId: TurnId, };

export type ChooseBranch = { turnId: TurnId, };

export type TurnTrace = { turnId: TurnId, chatId: ChatId, model?: ModelRef, 
/**
 * "page", "shell", or "key:" and the key's id.
 */
door: string, startedAt: number, 
/**
 * Absent while it runs.
 */
endedAt?: number, 
/**
 * The server's time, while the turn runs: open items last until then.
 */
now?: number, outcome?: TurnOutcome, usage: Usage, cost?: Cost, modelCalls: Array<ModelCallTrace>, toolCalls: Array<ToolCallTrace>, 
/**
 * Whether this is all: a turn of thousands of calls is shown as far as its first ones.
 */
isWhole: boolean, };

export type ModelCallTrace = { 
/**
 * Absent while the call runs, and once its record has expired.
 */
id?: ModelCallId, messageId: MessageId, 
/**
 * 1, 2, 3 … for one message.
 */
attempt: number, startedAt: number, firstTokenMs?: number, 
/**
 * Absent while it runs.
 */
durationMs?: number, 
/**
 * How long was waited before the next attempt.
 */
waitMs?: number, usage: Usage, cost?: Cost, stop?: StopReason, error?: ErrorDetail, 
/**
 * HTTP status of the response.
 */
status?: number, 
/**
 * Whether what was sent can be read: `GET /api/model-calls/{id}`.
 */
hasRequest: boolean, 
/**
 * The beginning of what it said.
 */
output: string, 
/**
 * The tools it asked for.
 */
calls: Array<ToolId>, };

export type ToolCallTrace = { callId: CallId, messageId: MessageId, toolId: ToolId, displayName: string, runsOn: RunsOn, 
/**
 * The computer, where that is not the server and the call belongs to no chat.
 */
device?: string, status: CallStatus, requestedAt: number, 
/**
 * Since when it waited for a person to allow it.
 */
askedAt?: number, answeredAt?: number, verdict?: Verdict, startedAt?: number, endedAt?: number, durationMs?: number, forms: Array<FormWait>, 
/**
 * As JSON; its beginning where it is long.
 */
input: string, 
/**
 * Its beginning, as text.
 */
output?: string, 
/**
 * The length of the whole output.
 */
outputBytes?: number, error?: ToolError, };

export type FormWait = { shownAt: number, answeredAt?: number, outcome?: FormOutcome, };

export type ModelRequestView = { id: ModelCallId, 
/**
 * Absent where no server was asked, or it was not kept.
 */
url?: string, 
/**
 * The JSON of the request; a text where it was too long to be kept as a whole.
 */
request?: unknown, response?: string, };

export type RecentCallView = { callId: CallId, 
/**
 * Where it was made in a chat.
 */
chatId?: ChatId, turnId?: TurnId, 
/**
 * When it ended.
 */
at: number, status: CallStatus, durationMs?: number, 
/**
 * "page", "shell", or "key:" and the key's id.
 */
door: string, };

export type StatsRange = "24h" | "7d" | "30d";

export type StatsView = { range: StatsRange, from: number, to: number, calls: CallStats, usage: UsageStats, overTime: Array<TimeStats>, 
/**
 * By tool and by source, those that are called most.
 */
tools: Array<ToolStats>, sources: Array<SourceStats>, 
/**
 * By person and by model, those with the most tokens.
 */
people: Array<PersonStats>, models: Array<ModelStats>, };

export type CallStats = { calls: number, errors: number, 
/**
 * Half of them took no longer, in two significant digits. Absent where no duration is on
 * record.
 */
p50Ms?: number, p95Ms?: number, };

export type UsageStats = { 
/**
 * Turns of chats, and completions.
 */
answers: number, usage: Usage, 
/**
 * One for each currency.
 */
costs: Array<Cost>, };

export type TimeStats = { at: number, usage: UsageStats, calls: number, errors: number, 
/**
 * Half of them took no longer, in two significant digits. Absent where no duration is on
 * record.
 */
p50Ms?: number, p95Ms?: number, };

export type ToolStats = { toolId: ToolId, displayName: string, sourceId?: SourceId, calls: CallStats, };

export type SourceStats = { 
/**
 * Absent for tools that no source is known of.
 */
sourceId?: SourceId, title: string, calls: CallStats, };

export type PersonStats = { userId: UserId, 
/**
 * Absent once they are gone, and for the one person of a server without accounts.
 */
name?: string, usage: UsageStats, 
/**
 * In each part of the time, for the first five; empty for the others.
 */
overTime: Array<UsageStats>, };

export type ModelStats = { 
/**
 * As it was called then.
 */
name: string, usage: UsageStats, 
/**
 * In each part of the time, for the first five; empty for the others.
 */
overTime: Array<UsageStats>, };

export type AnswerCall = { verdict: Verdict, };

export type MessageView = { id: MessageId, turnId: TurnId, role: Role, text: string, parts: Array<Part>, toolCalls: Array<CallRecord>, createdAt: number, };

export type SearchHit = { chatId: ChatId, title: string, kind: SearchHitKind, 
/**
 * Where in the chat; absent for its title.
 */
turnId?: TurnId, 
/**
 * Some of the text around what was found.
 */
snippet: Array<SnippetPiece>, at: number, archived: boolean, };

export type SnippetPiece = { text: string, 
/**
 * These are the words that were looked for.
 */
found: boolean, };

export type SearchHitKind = "title" | "message" | "call";

export type ShareView = { token: string, 
/**
 * What tools were given and what they gave is shown too.
 */
withTools: boolean, 
/**
 * The files that were attached can be read too.
 */
files: boolean, createdAt: number, 
/**
 * Something was said since, which the link does not show.
 */
behind: boolean, };

export type OwnShare = { chatId: ChatId, title: string, token: string, 
/**
 * What tools were given and what they gave is shown too.
 */
withTools: boolean, 
/**
 * The files that were attached can be read too.
 */
files: boolean, createdAt: number, 
/**
 * Something was said since, which the link does not show.
 */
behind: boolean, };

export type NewShare = { withTools?: boolean, 
/**
 * With the files that were attached.
 */
files?: boolean, };

export type SharedChat = { title: string, createdAt: number, 
/**
 * One branch, from the first turn to the last.
 */
turns: Array<ExportedTurn>, };

export type ExportedChat = { 
/**
 * "tenon.chat"
 */
format: string, 
/**
 * 1
 */
version: number, title: string, createdAt: number, 
/**
 * All branches; a turn comes after its parent.
 */
turns: Array<ExportedTurn>, 
/**
 * The last turn of the branch on show.
 */
head?: TurnId, 
/**
 * Absent where nothing is set.
 */
settings?: ExportedSettings, 
/**
 * The attached files, where they were asked for.
 */
files?: Array<ExportedFile>, };

export type ExportedSettings = { instructions?: string, parameters?: ModelParameters, 
/**
 * The name that programs use for who answers in it.
 */
expert?: string, 
/**
 * The name of the folder that it is in.
 */
folder?: string, pinned?: boolean, archived?: boolean, };

export type ExportedTurn = { id: TurnId, parent?: TurnId, model?: ModelRef, 
/**
 * The user's first, then the model's.
 */
messages: Array<ExportedMessage>, 
/**
 * Absent while it runs.
 */
outcome?: TurnOutcome, usage: Usage, cost?: Cost, };

export type ExportedMessage = { id: MessageId, role: Role, parts: Array<Part>, toolCalls: Array<CallRecord>, createdAt: number, };

export type ToolView = { toolId: ToolId, displayName: string, 
/**
 * The skill that it is of.
 */
skillName?: string, toolName: string, title: string, description: string, 
/**
 * Further words to find it by.
 */
keywords?: string, 
/**
 * The schema of its input, where the list has schemas.
 */
parameters?: unknown, annotations: Annotations, source: SourceView, runsOn: RunsOn, 
/**
 * About how many tokens it takes to tell a model of it.
 */
tokens: number, enabled: boolean, 
/**
 * Who switched it on or off; absent where nobody did.
 */
enabledBy?: Layer, 
/**
 * It was switched on by itself: a model hears of it before others.
 */
pinned: boolean, policy: Policy, 
/**
 * Who chose the policy; absent where nobody did.
 */
policyBy?: Layer, };

export type ToolsMode = "all" | "search";

export type ToolsChange = { layer: Layer, 
/**
 * For the layers of a chat.
 */
chatId?: ChatId, 
/**
 * For the layers of an expert, which may switch tools on and off, ask and deny.
 */
expertId?: ExpertId, tools: Array<ToolSettingPatch>, 
/**
 * For all tools of a source, also those that come later; a tool's own setting in the same
 * layer comes before it.
 */
sources?: Array<SourceSettingPatch>, };

export type SourceSettingPatch = { sourceId: SourceId, enabled?: boolean | null, policy?: Policy | null, };

export type ToolSettingPatch = { toolId: ToolId, enabled?: boolean | null, policy?: Policy | null, };

export type SourceView = { id: SourceId, kind: SourceKind, name: string, title: string, 
/**
 * Of one that runs on somebody's own machine.
 */
local?: LocalView, 
/**
 * Whether all of its tools were switched on or off at once, those that come later included.
 */
switched?: SourceSwitch, 
/**
 * What was decided about all of its tools at once, those that come later included.
 */
decided?: SourcePolicy, } & ({ "state": "starting" } | { "state": "ready" } | { "state": "degraded", why: ErrorDetail, } | { "state": "failed", why: ErrorDetail, } | { "state": "sleeping" } | { "state": "off" } | { "state": "offline" });

export type SourceSwitch = { enabled: boolean, by: Layer, };

export type SourcePolicy = { policy: Policy, by: Layer, };

export type SourceDetail = { id: SourceId, kind: SourceKind, name: string, title: string, origin: SourceOrigin, 
/**
 * Only this person sees it. Otherwise everybody does.
 */
mine: boolean, 
/**
 * Whether this person may change, restart and remove it.
 */
editable: boolean, enabled: boolean, 
/**
 * What it says of its own tools is believed: one that "only reads" needs no approval. Only an
 * admin changes it.
 */
trustHints: boolean, tools: number, 
/**
 * What is listed is what it offered when it last worked.
 */
stale: boolean, 
/**
 * Tools that could not be taken, and other things worth knowing.
 */
problems: Array<ErrorDetail>, 
/**
 * How it is reached. For those who may change it.
 */
reach?: SourceReach, 
/**
 * What it said of itself, once it was talked to.
 */
server?: ServerAbout, 
/**
 * Where one has to log in to use it.
 */
login?: LoginState, 
/**
 * Secrets of their own that this person has to set before it works for them.
 */
missing: Array<string>, 
/**
 * Variables that nobody has set and it does not start without, `user.` before those
 * of this person.
 */
unset: Array<string>, 
/**
 * How often it was started again since Tenon was.
 */
restarts: number, 
/**
 * The process, where it is one.
 */
pid?: number, 
/**
 * How far a start is that is under way.
 */
startup?: StartupView, 
/**
 * Why its program ended, where it has and is not up again. For those who may read its log.
 */
cause?: CauseView, 
/**
 * What its document says, where it has one.
 */
document?: DocumentView, } & ({ "state": "starting" } | { "state": "ready" } | { "state": "degraded", why: ErrorDetail, } | { "state": "failed", why: ErrorDetail, } | { "state": "sleeping" } | { "state": "off" } | { "state": "offline" });

export type SourceOrigin = { "kind": "added" } | { "kind": "file", file: string, };

export type ServerAbout = { name: string, version: string, 
/**
 * "2025-11-25"
 */
protocol: string, };

export type LoginState = "needed" | "connected";

export type StartupView = { since: number, step: StartupStep, 
/**
 * What it wrote last. For those who may read its log.
 */
line?: string, };

export type StartupStep = "queued" | "installing" | "starting";

export type CauseView = { 
/**
 * "`npx` exited with code 1."
 */
how: ErrorDetail, 
/**
 * The lines of its log that say so, oldest first.
 */
lines: Array<string>, 
/**
 * What usually helps.
 */
advice?: ErrorDetail, };

export type SourceReach = { "transport": "stdio", command: string, args: Array<string>, env: Record<string, string | null>, cwd?: string, timeoutMs?: number, toolTimeoutsMs: Record<string, number>, sleepAfterMs?: number, 
/**
 * How long it may take to come up. Left out: five minutes for a program, one for an address.
 */
startTimeoutMs?: number, 
/**
 * It runs once in a cluster of several servers.
 */
exclusive?: boolean, } | { "transport": "http", url: string, headers: Record<string, string | null>, 
/**
 * What Tenon is known by where people log in, if somebody has registered it there.
 */
clientId?: string, timeoutMs?: number, toolTimeoutsMs: Record<string, number>, sleepAfterMs?: number, 
/**
 * How long it may take to come up. Left out: five minutes for a program, one for an address.
 */
startTimeoutMs?: number, 
/**
 * It runs once in a cluster of several servers.
 */
exclusive?: boolean, } | { "transport": "sse", url: string, headers: Record<string, string | null>, 
/**
 * What Tenon is known by where people log in, if somebody has registered it there.
 */
clientId?: string, timeoutMs?: number, toolTimeoutsMs: Record<string, number>, sleepAfterMs?: number, 
/**
 * How long it may take to come up. Left out: five minutes for a program, one for an address.
 */
startTimeoutMs?: number, 
/**
 * It runs once in a cluster of several servers.
 */
exclusive?: boolean, } | { "transport": "openapi", 
/**
 * Where its document is. Not there: somebody gave it.
 */
url?: string, 
/**
 * Where requests go, if not where the document says.
 */
baseUrl?: string, headers: Record<string, string | null>, credentials: Record<string, CredentialKind>, timeoutMs?: number, toolTimeoutsMs: Record<string, number>, sleepAfterMs?: number, 
/**
 * How long it may take to come up. Left out: five minutes for a program, one for an address.
 */
startTimeoutMs?: number, 
/**
 * It runs once in a cluster of several servers.
 */
exclusive?: boolean, };

export type SourceLimits = { timeoutMs?: number, toolTimeoutsMs: Record<string, number>, sleepAfterMs?: number, 
/**
 * How long it may take to come up. Left out: five minutes for a program, one for an address.
 */
startTimeoutMs?: number, 
/**
 * It runs once in a cluster of several servers.
 */
exclusive?: boolean, };

export type CredentialKind = "key" | "basic" | "client";

export type DocumentView = { 
/**
 * Operations that did not become tools.
 */
skipped: Array<SkippedView>, schemes: Array<SchemeView>, 
/**
 * The servers behind it, if it is an mcpo.
 */
servers: Array<string>, 
/**
 * When it was last read.
 */
readAt?: number, 
/**
 * What the last reading that changed anything has changed.
 */
change?: DocumentChange, };

export type DocumentChange = { added: Array<string>, removed: Array<string>, changed: Array<string>, };

export type SkippedView = { 
/**
 * "GET /pets/{id}"; empty for all beyond the last that is read.
 */
place: string, why: ErrorDetail, };

export type SchemeView = { name: string, kind: SchemeKindView, description: string, };

export type SchemeKindView = { "type": "key", 
/**
 * "header", "query" or "cookie"
 */
place: string, name: string, } | { "type": "bearer" } | { "type": "basic" } | { "type": "client", tokenUrl: string, scopes: Array<string>, } | { "type": "other", name: string, };

export type SourcePreview = { title: string, version: string, tools: Array<ToolPreview>, skipped: Array<SkippedView>, schemes: Array<SchemeView>, 
/**
 * The servers behind it, if it is an mcpo.
 */
servers: Array<string>, notes: Array<ErrorDetail>, };

export type ToolPreview = { name: string, title: string, description: string, readOnly: boolean, 
/**
 * Off until somebody switches it on.
 */
deprecated: boolean, };

export type AddSource = { 
/**
 * "mcp" or "openapi"
 */
kind: string, 
/**
 * Letters, digits, `-` and `_`; part of its tools' ids.
 */
name: string, 
/**
 * For people; the name where it is left out.
 */
title?: string, 
/**
 * For this person alone. Who is no admin can do nothing else.
 */
mine?: boolean, 
/**
 * "stdio", "http" or "sse"; found out from `command` or `url` where it is left out.
 */
transport?: string, command?: string, args?: Array<string>, env?: Record<string, string>, cwd?: string, url?: string, headers?: Record<string, string>, 
/**
 * The OpenAPI document itself, as text or as JSON, in the place of `url`.
 */
document?: unknown, 
/**
 * Where requests go, if not where the document says.
 */
baseUrl?: string, 
/**
 * By the names of the document's security schemes: `{"type": "key", "value"}`,
 * `{"type": "basic", "user", "password"}` or
 * `{"type": "client", "id", "secret", "tokenUrl"?, "scopes"?}`.
 */
credentials?: Record<string, unknown>, timeoutMs?: number, toolTimeoutsMs?: Record<string, number>, sleepAfterMs?: number, startTimeoutMs?: number, 
/**
 * Whether it runs once in a cluster of several servers.
 */
exclusive?: boolean, 
/**
 * What Tenon is known by where people log in, if somebody has registered it there.
 */
clientId?: string, clientSecret?: string, enabled?: boolean, 
/**
 * Whether what it says of its own tools is believed: one that "only reads" needs no approval
 * then. An admin's to say; left out, an admin trusts what they add.
 */
trustHints?: boolean, };

export type SourceChange = { title?: string, enabled?: boolean, 
/**
 * An admin's to say.
 */
trustHints?: boolean, transport?: string, command?: string, args?: Array<string>, 
/**
 * All of them from now on; `null` keeps the value that is stored under that name.
 */
env?: Record<string, string | null>, 
/**
 * Null: none.
 */
cwd?: string | null, url?: string, 
/**
 * As `env`.
 */
headers?: Record<string, string | null>, document?: unknown, 
/**
 * Null: none.
 */
baseUrl?: string | null, 
/**
 * As `env`.
 */
credentials?: Record<string, unknown>, timeoutMs?: number | null, toolTimeoutsMs?: Record<string, number>, sleepAfterMs?: number | null, startTimeoutMs?: number | null, exclusive?: boolean, 
/**
 * Null: none.
 */
clientId?: string | null, clientSecret?: string | null, };

export type LogLine = { at: number, 
/**
 * Tenon's own words. Otherwise the server's.
 */
ours: boolean, text: string, };

export type ImportSources = { text: string, 
/**
 * Only say what would be added.
 */
preview: boolean, 
/**
 * For this person alone.
 */
mine?: boolean, 
/**
 * These of them alone, by name.
 */
only?: Array<string>, };

export type ImportedSource = { name: string, 
/**
 * "npx -y @modelcontextprotocol/server-memory", "https://…"
 */
summary: string, 
/**
 * What was, or would be, added.
 */
id?: SourceId, 
/**
 * Why it was not, or would not be.
 */
refused?: ErrorDetail, 
/**
 * Variables in it that nobody has set yet, `user.` before those of this person.
 */
unset: Array<string>, 
/**
 * What was left out or changed.
 */
notes: Array<ErrorDetail>, };

export type LoginStart = { url: string, };

export type SecretView = { name: string, 
/**
 * This person's own, `${user.NAME}`. Otherwise everybody's, `${NAME}`.
 */
mine: boolean, updatedAt: number, };

export type NewSecret = { value: string, 
/**
 * For this person alone; everybody's are an admin's to set.
 */
mine: boolean, };

export type AnswerForm = { formId: FormId, } & ({ "action": "accept", 
/**
 * The fields by their names.
 */
content: unknown, } | { "action": "decline" } | { "action": "cancel" });

export type SourceUpdate = { sourceId: SourceId, 
/**
 * It is not there any more.
 */
gone: boolean, 
/**
 * How far a start is that is under way.
 */
startup?: StartupView, tools: number, 
/**
 * Changes whenever the list of tools does.
 */
revision: number, } & ({ "state": "starting" } | { "state": "ready" } | { "state": "degraded", why: ErrorDetail, } | { "state": "failed", why: ErrorDetail, } | { "state": "sleeping" } | { "state": "off" } | { "state": "offline" });

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
provider?: WireFormat, 
/**
 * For admins alone: it may name a host that others need not know of.
 */
baseUrl?: string, 
/**
 * What the endpoint calls it.
 */
model?: string, hasKey: boolean, parameters: Record<string, unknown>, 
/**
 * False: it takes no pictures. Absent: that is not known before it is asked.
 */
seesImages?: boolean, 
/**
 * What a chat can set for it.
 */
takes: Array<ModelParameter>, toolMode: ToolMode, toolsSeen?: ToolUse, contextTokens?: number, 
/**
 * How many tokens its tools may take, where somebody has set it.
 */
toolBudget?: number, 
/**
 * Whether its tools are described briefly, because it is a small model.
 */
compactTools: boolean, prices?: Prices, 
/**
 * Used where a message names no model.
 */
isDefault: boolean, 
/**
 * Has settings of its own here, which `DELETE` removes.
 */
saved: boolean, 
/**
 * Why it cannot be asked now.
 */
unusable?: ErrorDetail, };

export type ModelOrigin = "builtin" | "added" | "environment" | "local";

export type NewModel = { 
/**
 * The model's own name where it is left out.
 */
name?: string, provider: WireFormat, baseUrl: string, key?: string, model: string, parameters?: Record<string, unknown>, toolMode?: ToolMode, contextTokens?: number, toolBudget?: number, prices?: Prices, isDefault?: boolean, };

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
 * Null: a tenth of its context.
 */
toolBudget?: number | null, 
/**
 * Null forgets them.
 */
prices?: Prices | null, isDefault?: boolean, };

export type ModelDiscoveryRequest = { baseUrl: string, 
/**
 * Left out, it is found out.
 */
provider?: WireFormat, key?: string, 
/**
 * Use the key that is stored with this model.
 */
modelId?: ModelId, };

export type ModelDiscoveryResponse = { provider: WireFormat, 
/**
 * As it should be saved: `http://localhost:11434` becomes `http://localhost:11434/v1`.
 */
baseUrl: string, models: Array<OfferedModel>, };

export type OfferedModel = { model: string, contextTokens?: number, };

export type EndpointView = { id: string, 
/**
 * "OpenAI", "Ollama"
 */
name: string, origin: ModelOrigin, provider: WireFormat, 
/**
 * For admins alone: it may name a host that others need not know of.
 */
baseUrl?: string, models: number, 
/**
 * Why it offers nothing now; only an admin is told more than that it does not. A server on
 * this machine that is not running is not listed at all.
 */
error?: ErrorDetail, };

export type TestFrame = { "type": "text", text: string, } | { "type": "tryingTools", mode: ToolUse, } | { "type": "finished", 
/**
 * Whether it answered at all.
 */
ok: boolean, 
/**
 * What went wrong. Where it answered, what was seen could not be stored.
 */
error?: ErrorDetail, tools?: ToolUse, 
/**
 * The server left the call in the text, where Tenon read it.
 */
isInText: boolean, 
/**
 * From the question to the first word.
 */
firstWordMs?: number, };

export type EvaluationRequest = { modes?: Array<ToolUse>, 
/**
 * How many prompts in each mode.
 */
prompts?: number, 
/**
 * How long one prompt may take.
 */
timeoutSeconds?: number, };

export type EvaluationFrame = { "type": "started", report: EvaluationReport, } | { "type": "measured", report: EvaluationReport, result: PromptResult, } | { "type": "finished", report: EvaluationReport, 
/**
 * Why it ended early.
 */
error?: ErrorDetail, };

export type EvaluationReport = { 
/**
 * How many are asked in each mode.
 */
promptsPerMode: number, modes: Array<ModeScore>, 
/**
 * The best of the modes that were measured to the end.
 */
recommendation?: ToolUse, };

export type ModeScore = { mode: ToolUse, 
/**
 * How many were measured.
 */
prompts: number, passed: number, rightFirstCalls: number, rightAnswers: number, durationMs: number, kinds: Array<KindScore>, 
/**
 * Why this mode was not measured to the end: the server cannot do it, or is too slow.
 */
problem?: ErrorDetail, };

export type KindScore = { kind: PromptKind, 
/**
 * How many were measured.
 */
prompts: number, passed: number, durationMs: number, };

export type PromptKind = "choice" | "arguments" | "severalCalls" | "twoSteps" | "restraint" | "chinese";

export type PromptResult = { mode: ToolUse, kind: PromptKind, prompt: string, outcome: PromptOutcome, isFirstCallRight: boolean, isAnswerRight: boolean, durationMs: number, };

export type PromptOutcome = "passed" | "noCall" | "wrongCall" | "unneededCall" | "wrongAnswer" | "timedOut" | "failed";

export type SkillView = { id: SourceId, name: string, title: string, description: string, version?: string, 
/**
 * Of its files: the identity of this version.
 */
hash: string, visibility: Visibility, 
/**
 * Whether whoever asks installed it.
 */
mine: boolean, canChange: boolean, enabled: boolean, 
/**
 * The last line of what installs its packages, while it starts.
 */
progress?: string, tools: Array<SkillToolView>, permissions: SkillPermissions, 
/**
 * Whether an admin agreed that its scripts use the network.
 */
networkAllowed: boolean, 
/**
 * The folder or archive on the server that it was installed from, and can be read from again.
 */
origin?: string, 
/**
 * It is one module, which can be edited as such.
 */
code?: SkillCodeView, 
/**
 * The tool that gives its instructions to a model.
 */
useToolId?: ToolId, } & ({ "state": "starting" } | { "state": "ready" } | { "state": "degraded", why: ErrorDetail, } | { "state": "failed", why: ErrorDetail, } | { "state": "sleeping" } | { "state": "off" } | { "state": "offline" });

export type SkillToolView = { toolId: ToolId, name: string, title: string, description: string, kind: SkillToolKind, 
/**
 * A command line, "GET https://…", or a built-in tool.
 */
target: string, parameters: unknown, };

export type SkillToolKind = "http" | "script" | "builtin" | "instructions" | "runner";

export type SkillCodeView = { language: "python" | "node", file: string, };

export type SkillDetail = { 
/**
 * Markdown.
 */
instructions: string, license?: string, compatibility?: string, author?: string, 
/**
 * Names of the tools that its instructions were written for, as they stand there.
 */
allowedTools: Array<string>, files: Array<SkillFile>, 
/**
 * The newest first.
 */
versions: Array<SkillVersionView>, 
/**
 * What its variables and secrets are set to.
 */
values: Array<SkillValueView>, 
/**
 * JSON Schemas of settings, for everybody and for each user.
 */
settings?: unknown, settingValues: Record<string, unknown>, userSettings?: unknown, userSettingValues: Record<string, unknown>, id: SourceId, name: string, title: string, description: string, version?: string, 
/**
 * Of its files: the identity of this version.
 */
hash: string, visibility: Visibility, 
/**
 * Whether whoever asks installed it.
 */
mine: boolean, canChange: boolean, enabled: boolean, 
/**
 * The last line of what installs its packages, while it starts.
 */
progress?: string, tools: Array<SkillToolView>, permissions: SkillPermissions, 
/**
 * Whether an admin agreed that its scripts use the network.
 */
networkAllowed: boolean, 
/**
 * The folder or archive on the server that it was installed from, and can be read from again.
 */
origin?: string, 
/**
 * It is one module, which can be edited as such.
 */
code?: SkillCodeView, 
/**
 * The tool that gives its instructions to a model.
 */
useToolId?: ToolId, } & ({ "state": "starting" } | { "state": "ready" } | { "state": "degraded", why: ErrorDetail, } | { "state": "failed", why: ErrorDetail, } | { "state": "sleeping" } | { "state": "off" } | { "state": "offline" });

export type SkillVersionView = { hash: string, version?: string, installedAt: number, 
/**
 * The one that is used.
 */
current: boolean, };

export type SkillValueView = { name: string, isSet: boolean, 
/**
 * Never of a secret.
 */
value?: string, };

export type SkillFileView = { path: string, 
/**
 * Absent where it is none, or too long to show.
 */
text?: string, bytes: number, };

export type SkillInput = { 
/**
 * A folder or an archive on the server.
 */
path?: string, 
/**
 * The name of an uploaded file: .zip, .skill, .tar.gz, .md.
 */
fileName?: string, 
/**
 * The file, in Base64.
 */
content?: string, 
/**
 * The folder that this skill was installed from.
 */
skillId?: SourceId, };

export type SkillInstall = { 
/**
 * Which of the skills that were shown; absent: all of them.
 */
hashes?: Array<string>, visibility?: Visibility, 
/**
 * Lets scripts use the network where the skill asks for it.
 */
allowNetwork?: boolean, 
/**
 * A folder or an archive on the server.
 */
path?: string, 
/**
 * The name of an uploaded file: .zip, .skill, .tar.gz, .md.
 */
fileName?: string, 
/**
 * The file, in Base64.
 */
content?: string, 
/**
 * The folder that this skill was installed from.
 */
skillId?: SourceId, };

export type SkillPreview = { skills: Array<SkillPreviewItem>, refused: Array<RefusedSkillView>, };

export type SkillPreviewItem = { name: string, title: string, description: string, version?: string, 
/**
 * Its folder in the source.
 */
folder: string, hash: string, 
/**
 * What it would be a new version of.
 */
installed?: SourceId, 
/**
 * It runs programs, so only an admin can install it.
 */
needsAdmin: boolean, permissions: SkillPermissions, diff: SkillDiff, };

export type RefusedSkillView = { folder: string, file: string, line?: number, message: string, };

export type SkillChange = { enabled?: boolean, visibility?: Visibility, networkAllowed?: boolean, 
/**
 * By name; null takes a value back.
 */
variables?: { [key in string]: string | null }, settings?: Record<string, unknown>, 
/**
 * Of whoever asks.
 */
userSettings?: Record<string, unknown>, };

export type SkillVersionChoice = { hash: string, };

export type SandboxView = { walls: Array<WallView>, 
/**
 * Why there is no sandbox at all.
 */
why?: string, };

export type WallView = { wall: "files" | "network" | "processes" | "system-calls" | "limits", strength: "none" | "partial" | "full", };

export type ModuleCode = { 
/**
 * Open WebUI calls it `content`.
 */
code: string, language?: "python" | "node", };

export type ModuleView = { language: "python" | "node", title?: string, description?: string, requirements: Array<string>, tools: Array<ModuleFunctionView>, settings?: unknown, userSettings?: unknown, 
/**
 * What will not work although it can be saved.
 */
warnings: Array<ModuleWarningView>, error?: ModuleFaultView, };

export type ModuleFunctionView = { name: string, description: string, parameters: unknown, };

export type ModuleFaultView = { kind: "syntax" | "missing_module" | "internals" | "load" | "no_tools", 
/**
 * A sentence that says what to do.
 */
message: string, line?: number, modules: Array<string>, };

export type ModuleWarningView = { kind: "internals" | "parameter", 
/**
 * A sentence that says what will not work.
 */
message: string, line?: number, 
/**
 * Modules or parameters.
 */
names: Array<string>, 
/**
 * The tool with such a parameter.
 */
tool?: string, };

export type ModuleMeta = { 
/**
 * Of the whole module, where its code has none.
 */
description?: string, };

export type NewModule = { name?: string, 
/**
 * A skill that gets the code as its next version.
 */
skillId?: SourceId, visibility?: Visibility, allowNetwork?: boolean, 
/**
 * As Open WebUI exports it.
 */
meta?: ModuleMeta, 
/**
 * Open WebUI calls it `content`.
 */
code: string, language?: "python" | "node", };

export type TryModule = { tool: string, arguments: unknown, settings?: Record<string, unknown>, 
/**
 * Whether it may use the network in the trial, as for a tool that is saved.
 */
allowNetwork?: boolean, 
/**
 * Open WebUI calls it `content`.
 */
code: string, language?: "python" | "node", };

export type TryEvent = { "type": "line", line: string, } | { "type": "event", event: unknown, } | { "type": "result", result: unknown, durationMs: number, } | { "type": "error", message: string, 
/**
 * The same as data, where Tenon itself says it.
 */
detail?: ErrorDetail, line?: number, durationMs: number, };

export type CreateEvent = { "type": "line", line: string, } | { "type": "created", skill: SkillDetail, } | { "type": "error", detail: ErrorDetail, };

export type SkillFile = { path: string, size: number, 
/**
 * SHA-256 of its content.
 */
hash: string, isExecutable: boolean, };

export type SkillPermissions = { 
/**
 * Whether scripts may use the network.
 */
network: boolean, 
/**
 * Command lines of the script tools.
 */
commands: Array<string>, 
/**
 * Files that a model can run.
 */
scripts: Array<string>, 
/**
 * Where the http tools send requests.
 */
servers: Array<string>, variables: Array<SkillVariable>, requirements: Requirements, };

export type SkillVariable = { name: string, description: string | null, isSecret: boolean, isRequired: boolean, default: string | null, };

export type Requirements = { 
/**
 * As in `requirements.txt`: "requests>=2".
 */
python: Array<string>, 
/**
 * As in a shell: "left-pad@^1.3.0".
 */
node: Array<string>, };

export type SkillDiff = { oldVersion: string | null, newVersion: string | null, 
/**
 * None where nothing was installed.
 */
oldHash: string | null, newHash: string, 
/**
 * Whether the instructions or the description differ.
 */
instructionsChanged: boolean, tools: Array<ToolChange>, permissions: Array<PermissionChange>, files: Array<FileChange>, };

export type ChangeKind = "added" | "removed" | "changed";

export type ToolChange = { name: string, change: ChangeKind, 
/**
 * What it runs now, or ran: a command line, "GET https://…", or a built-in tool.
 */
target: string, 
/**
 * What differs of a tool that stays: "description", "parameters", "run".
 */
fields: Array<string>, };

export type PermissionChange = { kind: PermissionKind, change: ChangeKind, 
/**
 * The command, file, server, variable or package; empty for the network.
 */
value: string, };

export type PermissionKind = "network" | "command" | "script" | "server" | "variable" | "secret" | "package";

export type FileChange = { path: string, change: ChangeKind, oldHash: string | null, newHash: string | null, };

export type ExpertView = { id: ExpertId, 
/**
 * It comes with Tenon; the page has its title and starters in its own language.
 */
builtin: boolean, visibility: Visibility, 
/**
 * Whether whoever asks made it.
 */
mine: boolean, 
/**
 * Whether they may change and delete it.
 */
canChange: boolean, 
/**
 * They do not want to see it in their lists.
 */
hidden: boolean, 
/**
 * What programs call it by: `expert/NAME`.
 */
name: string, title: string, description: string, 
/**
 * One of [`EXPERT_ICONS`].
 */
icon: string, 
/**
 * None: the default one.
 */
model?: ModelId, parameters: ModelParameters, 
/**
 * Follows Tenon's own.
 */
systemPrompt: string, 
/**
 * These tools alone. None: all that are switched on.
 */
tools?: Array<Pattern>, 
/**
 * The skills whose tools it has beside these.
 */
skills: Array<SourceId>, 
/**
 * Messages to begin a chat with.
 */
starters: Array<string>, };

export type ExpertChange = { 
/**
 * Left out for a new one, it is made from the title.
 */
name?: string, title?: string, description?: string, icon?: string, 
/**
 * Null: the default one.
 */
model?: ModelId | null, parameters?: ModelParameters, systemPrompt?: string, 
/**
 * Ids of tools, or patterns of them; null: all that are switched on.
 */
tools?: Array<string> | null, skills?: Array<SourceId>, starters?: Array<string>, visibility?: Visibility, hidden?: boolean, };

export type ExpertFile = { 
/**
 * YAML; JSON can be read, too. Skills are named in it.
 */
text: string, };

export type ModelParameters = { temperature?: number, topP?: number, maxTokens?: number, effort?: ReasoningEffort, };

export type ReasoningEffort = "low" | "medium" | "high";

export type ChatSettings = { 
/**
 * Follow those of its user, its folder and its expert.
 */
instructions: string, 
/**
 * Win over those of its expert.
 */
parameters: ModelParameters, };

export type AttachedFile = { id: FileId, name: string, mediaType: string, size: number, kind: FileKind, 
/**
 * How many characters of text a model can be told of it.
 */
textChars?: number, 
/**
 * Its text is longer than is kept.
 */
truncated: boolean, };

export type FileKind = "image" | "text" | "document" | "other";

export type UserInstructions = { 
/**
 * For models, in all one's chats.
 */
instructions: string, };

export type FolderView = { id: FolderId, name: string, 
/**
 * For the chats in it.
 */
instructions: string, 
/**
 * Who answers in its new chats.
 */
expertId?: ExpertId, };

export type ChatFolderChange = { 
/**
 * A new one must have it.
 */
name?: string, instructions?: string, 
/**
 * Null: the general one.
 */
expertId?: ExpertId | null, };

export type FileLimits = { maxBytes: number, 
/**
 * In one message.
 */
maxCount: number, };

export type ModelParameter = "temperature" | "topP" | "maxTokens" | "effort";

export type ContextQuery = { 
/**
 * Left out, a new chat.
 */
chatId?: ChatId, 
/**
 * Of a new chat.
 */
expertId?: ExpertId, 
/**
 * Of a new chat.
 */
folderId?: FolderId, modelId?: ModelId, text?: string, deviceId?: string, };

export type ContextView = { 
/**
 * How much the model reads and writes at most, where that is known.
 */
contextTokens?: number, systemTokens: number, toolTokens: number, 
/**
 * With the message.
 */
historyTokens: number, 
/**
 * The tools that the model is told of, beside those that find others.
 */
tools: Array<ToolId>, 
/**
 * Those that it is not, though they are switched on.
 */
leftOut: Array<OmittedTool>, 
/**
 * How many more it can find by searching.
 */
deferred: number, };

export type ExportedFile = { file: AttachedFile, 
/**
 * Base64.
 */
data: string, 
/**
 * What models are told of it.
 */
text?: string, };

export type Visibility = "private" | "team";

export type PromptView = { id: PromptId, 
/**
 * What it is found by, after a slash.
 */
command: string, title: string, text: string, visibility: Visibility, mine: boolean, 
/**
 * Whether whoever asks may change and delete it.
 */
canChange: boolean, };

export type NewPrompt = { command: string, title?: string, text: string, visibility?: Visibility, };

export type PromptChange = { command?: string, title?: string, text?: string, visibility?: Visibility, };

export type ServerPromptView = { name: string, 
/**
 * "Git/Commit message"
 */
title: string, description: string, arguments: Array<PromptArgument>, };

export type PromptArgument = { name: string, description: string, required: boolean, };

export type FillPrompt = { name: string, arguments?: Record<string, string>, };

export type FilledPrompt = { text: string, };

export type ErrorBody = { error: ErrorDetail, };

export type ErrorDetail = { code: string, 
/**
 * English, made from the code's template and the parameters: one sentence that says what to
 * do.
 */
message: string, params: Record<string, ErrorParam>, 
/**
 * The field of the request, or of a form, that is wrong.
 */
field?: string, };

export type ErrorParam = string | ErrorDetail | Array<ErrorDetail>;

export type DeviceView = { id: string, 
/**
 * "Chrome on Linux"
 */
name: string, 
/**
 * Whether a page is open there.
 */
online: boolean, 
/**
 * The ids of those that are, the latest last: what `session_id` of a chat completion can name.
 */
pages: Array<string>, servers: Array<LocalServerView>, };

export type LocalServerView = { sourceId: SourceId, title: string, url: string, via: LocalProtocol, tools: number, } & ({ "state": "starting" } | { "state": "ready" } | { "state": "degraded", why: ErrorDetail, } | { "state": "failed", why: ErrorDetail, } | { "state": "sleeping" } | { "state": "off" } | { "state": "offline" });

export type LocalView = { deviceId: string, deviceName: string, url: string, via: LocalProtocol, };

export type McpoDiscoveryRequest = { 
/**
 * Where its main document was read.
 */
url: string, document: unknown, };

export type McpoServer = { name: string, 
/**
 * Where its document is.
 */
url: string, };

export type LocalEndpoint = { url: string, name: string, kind: EndpointKind, enabled: boolean, };

export type EndpointKind = "auto" | "openapi" | "mcp";

export type Registration = { device: DeviceInfo, 
/**
 * One load of a page, so that it is known again after its connection was away.
 */
page: string, servers: Array<DiscoveredServer>, 
/**
 * Addresses it has not finished looking at: nothing is said of them yet.
 */
looking?: Array<string>, 
/**
 * The calls it still works on.
 */
calls?: Array<CallId>, };

export type DeviceInfo = { id: string, 
/**
 * The name that the person gave the computer.
 */
name: string, };

export type DiscoveredServer = { 
/**
 * The address that the person enabled. Nothing is sent anywhere else.
 */
url: string, 
/**
 * Name of the server if several are behind one address; empty if there is only one.
 */
name: string, 
/**
 * The title that the server gives itself.
 */
title: string, via: LocalProtocol, 
/**
 * Hash of the description, computed by the page: equal hashes mean equal descriptions.
 */
hash: string, 
/**
 * Left out where Tenon may have it already.
 */
offered?: DiscoveredTools, };

export type LocalProtocol = "mcpo" | "openapi" | "mcp";

export type DiscoveredTools = { "type": "openapi", 
/**
 * JSON or YAML.
 */
document: string, 
/**
 * Where it was read.
 */
url: string, } | { "type": "mcp", 
/**
 * Entries of the `tools/list` result.
 */
tools: unknown[], };

export type RegistrationResult = { servers: Array<RegisteredServer>, 
/**
 * Why nothing of it was taken in.
 */
problem?: ErrorDetail, };

export type RegisteredServer = { url: string, name: string, sourceId: SourceId, tools: number, 
/**
 * Tenon does not know this description, so the page has to send it.
 */
wanted: boolean, 
/**
 * Set if nothing of the description can be used.
 */
problem?: ErrorDetail, 
/**
 * Parts of the description that were left out.
 */
notes: Array<ErrorDetail>, };

export type ExecuteTool = { call_id: CallId, chat_id?: ChatId, message_id?: MessageId, tool_id?: ToolId, 
/**
 * The native name of the tool at its server.
 */
tool_name: string, tool_args: Record<string, unknown>, 
/**
 * The address that the person enabled.
 */
server_url: string, 
/**
 * The HTTP request to send. None if the tool is called over MCP.
 */
request?: WireRequest, 
/**
 * How long the call may take without progress.
 */
deadline_ms: number, };

export type RemoteCallProgress = { call_id: CallId, progress?: number, total?: number, message?: string, };

export type LocalCallResult = { call_id: CallId, } & ({ status: number, headers: Array<[string, string]>, body?: WireBody, } | { result: unknown, } | { error: LocalCallFailure, });

export type LocalCallOutcome = { status: number, headers: Array<[string, string]>, body?: WireBody, } | { result: unknown, } | { error: LocalCallFailure, };

export type LocalCallFailure = { kind: LocalFailureKind, 
/**
 * A sentence.
 */
message: string, };

export type LocalFailureKind = "unreachable" | "refused" | "timed_out" | "broken" | "failed" | "taken";

export type WireRequest = { method: string, url: string, 
/**
 * Every byte of a value is one character, as `Headers` in a page wants it.
 */
headers: Array<[string, string]>, body?: WireBody, };

export type WireBody = { "type": "text", text: string, } | { "type": "base64", data: string, };

export type ServerFrame = { "type": "event" } & Event | { "type": "events", chatId: ChatId, events: Array<Event>, } | { "type": "delta" } & Delta | { "type": "waiting" } & ModelWait | { "type": "prompt:progress" } & PromptProgress | { "type": "progress" } & CallProgress | { "type": "source:state" } & SourceUpdate | { "type": "caughtUp", chatId: ChatId, seq: number, } | { "type": "execute:tool" } & ExecuteTool | { "type": "cancel:tool", call_id: CallId, } | { "type": "tools:registered" } & RegistrationResult | { "type": "pong" } | { "type": "resync" } | { "type": "chat:changed", chat: ChatSummary, } | { "type": "chat:gone", chatId: ChatId, } | { "type": "changed", topic: UserTopic, } | { "type": "storage", state: StorageState, } | { "type": "cluster", state: ClusterState, } | { "type": "error", chatId?: ChatId, error: ErrorDetail, };

export type ClientFrame = { "type": "subscribe", chatId: ChatId, after: number, 
/**
 * What is past may come as `events`: a long chat is thousands of them, and a browser takes
 * longer for the frames than for what is in them.
 */
batched: boolean, } | { "type": "unsubscribe", chatId: ChatId, } | { "type": "subscribe:user" } | { "type": "ping" } | { "type": "tools:register" } & Registration | { "type": "tools:unregister", url: string, } | { "type": "tool:progress" } & RemoteCallProgress | { "type": "tool:result" } & LocalCallResult;

export type Account = { id: UserId, email: string, name: string, role: UserRole, 
/**
 * Cannot log in; nothing of theirs is lost.
 */
disabled: boolean, createdAt: number, lastLoginAt?: number, };

export type UserRole = "admin" | "user";

export type KeyScope = { access: KeyAccess, 
/**
 * Tools that it may call, and a model that works for it, although their policy is to ask:
 * nobody can be asked there.
 */
allow: Array<Pattern>, };

export type KeyAccess = "full" | "use" | "read";

export type EntryPoint = string;

export type Pattern = string;

export type Event = { chatId: ChatId, 
/**
 * 1, 2, 3 … within the chat, without gaps.
 */
seq: number, 
/**
 * Milliseconds since 1970.
 */
at: number, body: EventBody, };

export type EventBody = { "type": "chatTitled", title: string, by: TitledBy, } | { "type": "turnStarted", turnId: TurnId, message: MessageRecord, 
/**
 * Where it does not follow the turn at the end of the branch on show.
 */
branch?: Branch, 
/**
 * These tools alone, where the person said so.
 */
tools?: Array<ToolId>, 
/**
 * How it came in: the page, a key or a shell.
 */
door: EntryPoint, 
/**
 * Who is asked.
 */
model?: ModelRef, } | { "type": "branchChosen", turnId: TurnId, } | { "type": "toolsLeftOut", turnId: TurnId, tools: Array<OmittedTool>, } | { "type": "messageStarted", message: MessageRecord, } | { "type": "messageFinished", messageId: MessageId, parts: Array<Part>, } | { "type": "callRequested", call: CallRecord, } | { "type": "callAsked", callId: CallId, } | { "type": "callAnswered", callId: CallId, verdict: Verdict, } | { "type": "callStarted", callId: CallId, } | { "type": "formShown", callId: CallId, form: Form, } | { "type": "formAnswered", callId: CallId, formId: FormId, outcome: FormOutcome, } | { "type": "callFinished", callId: CallId, status: CallStatus, output?: ToolOutput, error?: ToolError, durationMs: number, } | { "type": "turnFinished", turnId: TurnId, outcome: TurnOutcome, usage: Usage, 
/**
 * Where the model has prices.
 */
cost?: Cost, };

export type Branch = { 
/**
 * The turn before it. None: it begins the chat anew.
 */
after: TurnId | null, };

export type TitledBy = "cut" | "model" | "person";

export type TurnOutcome = { "kind": "done" } | { "kind": "stopped" } | { "kind": "stepLimit" } | { "kind": "interrupted" } & ErrorDetail | { "kind": "failed" } & ErrorDetail;

export type PageLanguage = "en" | "zh-Hans" | "zh-Hant";

export type Delta = { chatId: ChatId, messageId: MessageId, 
/**
 * Which part of the message this belongs to.
 */
part: number, kind: DeltaKind, offset: number, text: string, };

export type DeltaKind = { "kind": "text" } | { "kind": "thinking" } | { "kind": "input", displayName: string, };

export type ModelWait = { chatId: ChatId, messageId: MessageId, waitMs: number, };

export type PromptProgress = { chatId: ChatId, messageId: MessageId, processed: number, total: number, };

export type CallProgress = { chatId: ChatId, callId: CallId, progress: number, 
/**
 * What `progress` is at the end, where that is known.
 */
total?: number, message?: string, };

export type Form = { id: FormId, 
/**
 * What it is about, in the words of the tool. Comes from outside: show it as text.
 */
message: string, wants: FormRequest, };

export type FormRequest = { "kind": "fields", schema: unknown, } | { "kind": "visit", url: string, };

export type FormAnswer = { "action": "accept", 
/**
 * The fields by their names.
 */
content: unknown, } | { "action": "decline" } | { "action": "cancel" };

export type FormOutcome = "accepted" | "declined" | "cancelled";

export type StopReason = "end" | "tool_calls" | "length" | "filtered" | "paused";

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
input: unknown, } | { "type": "image" } & UserImage | { "type": "file", file: AttachedFile, } | { "type": "opaque", };

export type UserImage = { mediaType: string, 
/**
 * Base64.
 */
data: string, };

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

export type OmittedTool = { toolId: ToolId, displayName: string, why: ErrorDetail, };

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

export type WireFormat = "openai" | "responses" | "anthropic";

export type ToolMode = "auto" | "native" | "constrained" | "text" | "none";

export type ToolUse = "native" | "constrained" | "text" | "none";

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
displayName: string, runsOn: RunsOn, input: unknown, status: CallStatus, output?: ToolOutput, error?: ToolError, durationMs?: number, 
/**
 * It waits for a person to allow it.
 */
asked: boolean, 
/**
 * What a person decided about it.
 */
verdict?: Verdict, };

export type CallStatus = "pending" | "running" | "done" | "failed" | "cancelled" | "lost";

export type ToolOutput = { content: Array<Content>, };

export type Content = { "type": "text", text: string, } | { "type": "image", mediaType: string, 
/**
 * Base64.
 */
data: string, } | { "type": "json", value: unknown, } | { "type": "file", mediaType: string, name?: string, 
/**
 * Base64.
 */
data: string, } | { "type": "blob", blobId: BlobId, mediaType: string, name?: string, bytes: number, };

export type ToolError = { kind: ErrorKind, 
/**
 * English, for the model as for people.
 */
message: string, 
/**
 * Where Tenon itself made the error. What a tool or its server said is a message alone.
 */
code?: string, params: Record<string, ErrorParam>, 
/**
 * What the model gets in the place of the message, where such tools answer in a form of their
 * own.
 */
reply?: unknown, };

export type ErrorKind = "unknown_tool" | "invalid_input" | "denied" | "timed_out" | "cancelled" | "unavailable" | "failed" | "lost";

export type Annotations = { readOnly: boolean, destructive: boolean, idempotent: boolean, 
/**
 * Reaches beyond this machine.
 */
openWorld: boolean, 
/**
 * A successful call means the work is done: the turn ends after it.
 */
endsTurn: boolean, 
/**
 * Its source advises against it: off until somebody switches it on.
 */
deprecated: boolean, };

export type RunsOn = "server" | "browser";

export type Policy = "allow" | "ask" | "deny";

export type Layer = "organisation" | "user" | "expert" | "chat";

export type Verdict = "once" | "chat" | "always" | "denied";

export type SourceKind = "builtin" | "skill" | "mcp" | "openapi" | "browser";

export type SourceState = { "state": "starting" } | { "state": "ready" } | { "state": "degraded", why: ErrorDetail, } | { "state": "failed", why: ErrorDetail, } | { "state": "sleeping" } | { "state": "off" } | { "state": "offline" };

export type ClusterState = "ok" | "delayed" | "noBus";

export type StorageState = "ok" | "low" | "full" | "failing";

export type UserTopic = "tools" | "sources" | "models" | "accounts" | "settings" | "experts" | "skills";

export type BlobId = string;

export type CallId = string;

export type ChatId = string;

export type MessageId = string;

export type ModelId = string;

export type ExpertId = string;

export type PromptId = string;

export type FolderId = string;

export type FileId = string;

export type SourceId = string;

export type ToolId = string;

export type TurnId = string;

export type UserId = string;

export type SessionId = string;

export type FormId = string;

export type ModelCallId = string;

export type KeyId = string;

export type InviteId = string;

export const SHOWN_PAGE = "text/html; disposition=inline";
