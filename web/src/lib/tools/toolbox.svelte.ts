// The tools that exist, as they are set for the open chat. The server keeps the
// settings; a change is shown at once and put back when the server refuses it.
import { api } from '$lib/api/client';
import type {
  ChatId,
  LocalView,
  Policy,
  SourceId,
  SourceSettingPatch,
  ToolSettingPatch,
  ToolId,
  ToolsChange,
  ToolView,
} from '$lib/api/types';
import { localizedTool } from '$lib/i18n/builtins/builtinTexts';
import { language } from '$lib/i18n/language.svelte';
import { Refresher } from '$lib/refresher';
import { ResponseOrder } from '$lib/responseOrder';
import { isOn } from './callable';
import type { PolicyLayer } from './settingHandlers';

/** What was changed and is not yet confirmed. */
type Over = Pick<ToolSettingPatch, 'enabled' | 'policy'>;

/** One line of a change: of a tool, or of all of a source. */
interface Setting {
  source?: SourceSettingPatch;
  tool?: ToolSettingPatch;
}

export class Toolbox {
  loaded = $state(false);
  #all = $state.raw<readonly ToolView[]>([]);
  #over = $state.raw<ReadonlyMap<ToolId, Over>>(new Map());
  #chatId: ChatId | undefined;
  #order = new ResponseOrder();
  #refresher = new Refresher(() => this.#read());
  /** Changes reach the server in the order they were made. */
  #queue: Promise<unknown> = Promise.resolve();

  #localized = $derived(this.#all.map((tool) => localizedTool(tool, language.builtins)));
  /** One that was not changed stays the same object: what was worked out of it is found again. */
  tools = $derived(
    this.#over.size === 0
      ? this.#localized
      : this.#localized.map((tool) => {
          const over = this.#over.get(tool.toolId);
          return over
            ? {
                ...tool,
                enabled: over.enabled ?? tool.enabled,
                policy: over.policy ?? tool.policy,
              }
            : tool;
        }),
  );
  /** What the next message may use. */
  on = $derived(this.tools.filter(isOn));
  /** Tools that are switched for this chat alone. */
  here = $derived(this.#all.filter((tool) => tool.enabledBy === 'chat'));

  #locals = $derived(
    new Map(this.#all.flatMap(({ toolId, source: { local } }) => (local ? [[toolId, local]] : []))),
  );

  constructor(chatId: ChatId | undefined) {
    this.#chatId = chatId;
  }

  /** Where a tool runs that is on a person's own machine. */
  localOf(toolId: ToolId): LocalView | undefined {
    return this.#locals.get(toolId);
  }

  /** Never fails: what cannot be read is read again later. */
  refresh(): Promise<void> {
    return this.#refresher.now();
  }

  /** Called on change events. */
  refreshSoon(): void {
    this.#refresher.soon();
  }

  async open(chatId: ChatId | undefined): Promise<void> {
    if (chatId === this.#chatId) return;
    this.#chatId = chatId;
    this.#over = new Map();
    await this.refresh();
  }

  /** For the open chat; where none is, for all chats of this person. With a source: all that it
      has and will have, and `ids` are those that it has. */
  switch(ids: readonly ToolId[], enabled: boolean, sourceId?: SourceId): Promise<void> {
    const chatId = this.#chatId;
    const where = chatId ? ({ layer: 'chat', chatId } as const) : ({ layer: 'user' } as const);
    if (sourceId === undefined) {
      const tools = ids.map((toolId) => ({ toolId, enabled }));
      return this.#change(ids, { enabled }, inRequests({ ...where, tools }));
    }
    const own = this.#among(ids, ({ enabledBy }) => enabledBy === where.layer);
    const tools = own.map(({ toolId }) => ({ toolId, enabled: null }));
    const sources = [{ sourceId, enabled }];
    return this.#change(ids, { enabled }, inRequests({ ...where, tools, sources }));
  }

  /** Has the model told of it before others, or no longer: then it follows its source again. */
  pin({ toolId, enabledBy }: ToolView, on: boolean): Promise<void> {
    if (on) return this.switch([toolId], true);
    const chatId = enabledBy === 'chat' ? this.#chatId : undefined;
    const where = chatId ? ({ layer: 'chat', chatId } as const) : ({ layer: 'user' } as const);
    return this.#change([toolId], {}, inRequests({ ...where, tools: [{ toolId, enabled: null }] }));
  }

  /** What this chat alone uses or does not, all chats of this person do from now on. */
  switchEverywhere(): Promise<void> {
    const chatId = this.#chatId;
    if (!chatId || this.here.length === 0) return Promise.resolve();
    const switched = this.here.flatMap(({ source: { id, switched } }) =>
      switched?.by === 'chat' ? [[id, switched.enabled] as const] : [],
    );
    const whole = new Map(switched);
    const sources = [...whole].map(([sourceId, enabled]) => ({ sourceId, enabled }));
    const tools = this.here.map(({ toolId, enabled, source }) => ({
      toolId,
      // What is as its source is follows it.
      enabled: whole.get(source.id) === enabled ? null : enabled,
    }));
    const back = tools.map(({ toolId }) => ({ toolId, enabled: null }));
    const sourcesBack = sources.map(({ sourceId }) => ({ sourceId, enabled: null }));
    return this.#change([], {}, [
      ...inRequests({ layer: 'user', tools, sources }),
      ...inRequests({ layer: 'chat', chatId, tools: back, sources: sourcesBack }),
    ]);
  }

  /** For all chats of this person, or for everybody. Null takes back what was said last: for this
      chat, else for all of them. With a source: for all that it has and will have. */
  setPolicy(
    ids: readonly ToolId[],
    policy: Policy | null,
    layer: PolicyLayer = 'user',
    sourceId?: SourceId,
  ): Promise<void> {
    const chatId = this.#chatId;
    const saidHere = this.#among(ids, ({ policyBy }) => policyBy === 'chat');
    const here = new Set(layer === 'user' && chatId ? saidHere.map(({ toolId }) => toolId) : []);
    // What was said for this chat would overrule what is said for all.
    const forget = [...here].map((toolId) => ({ toolId, policy: null }));
    const said = ids.filter((toolId) => policy !== null || !here.has(toolId));
    if (sourceId === undefined) {
      return this.#change(ids, { policy }, [
        ...inRequests({ layer, tools: said.map((toolId) => ({ toolId, policy })) }),
        ...inRequests({ layer: 'chat', chatId, tools: forget }),
      ]);
    }
    // Where nobody said anything there is nothing to take back.
    const own = this.#among(said, ({ policyBy }) => policyBy !== undefined);
    const tools = own.map(({ toolId }) => ({ toolId, policy: null }));
    const forgotten = here.size > 0 ? [{ sourceId, policy: null }] : [];
    return this.#change(ids, { policy }, [
      ...inRequests({ layer, tools, sources: said.length > 0 ? [{ sourceId, policy }] : [] }),
      ...inRequests({ layer: 'chat', chatId, tools: forget, sources: forgotten }),
    ]);
  }

  #among(ids: readonly ToolId[], is: (tool: ToolView) => boolean): ToolView[] {
    const meant = new Set(ids);
    return this.#all.filter((tool) => meant.has(tool.toolId) && is(tool));
  }

  async #read(): Promise<void> {
    const chatId = this.#chatId;
    const isNewest = this.#order.send();
    const tools = await api.tools(chatId);
    // Another chat, which sets them otherwise, may have been opened meanwhile.
    if (chatId !== this.#chatId || !isNewest()) return;
    this.#all = tools;
    this.loaded = true;
  }

  #change(ids: readonly ToolId[], over: Over, changes: readonly ToolsChange[]): Promise<void> {
    const laid = new Map(ids.map((id) => [id, { ...this.#over.get(id), ...over }]));
    this.#over = new Map([...this.#over, ...laid]);
    const done = this.#queue.then(async () => {
      try {
        for (const change of changes) await api.changeTools(change);
      } finally {
        // The list says what holds now, whether that is the change or what was before it.
        await this.refresh();
        // A later change of the same tools lies over this one and stays.
        this.#over = new Map([...this.#over].filter(([id, now]) => now !== laid.get(id)));
      }
    });
    this.#queue = done.catch(() => {});
    return done;
  }
}

/** So many tools the server changes at once. */
const MAX_CHANGES = 2000;

/** Sources are few: they go with the first tools. */
function inRequests({ sources = [], ...change }: ToolsChange): ToolsChange[] {
  const changes: Setting[] = [
    ...sources.map((source) => ({ source })),
    ...change.tools.map((tool) => ({ tool })),
  ];
  const count = Math.ceil(changes.length / MAX_CHANGES);
  return Array.from({ length: count }, (_, index) => {
    const part = changes.slice(index * MAX_CHANGES, (index + 1) * MAX_CHANGES);
    const ofSources = part.flatMap(({ source }) => source ?? []);
    return {
      ...change,
      tools: part.flatMap(({ tool }) => tool ?? []),
      ...(ofSources.length > 0 && { sources: ofSources }),
    };
  });
}
