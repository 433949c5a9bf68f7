// The tools that exist, as they are set for the open chat. The server keeps the
// settings; a change is shown at once and put back when the server refuses it.
import { api } from '$lib/api/client';
import type {
  ChatId,
  LocalView,
  Policy,
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

/** What was changed and is not yet confirmed. */
type Over = Pick<ToolSettingPatch, 'enabled' | 'policy'>;

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

  /** For the open chat; where none is, for all chats of this person. */
  switch(ids: readonly ToolId[], enabled: boolean): Promise<void> {
    const chatId = this.#chatId;
    const tools = ids.map((toolId) => ({ toolId, enabled }));
    return this.#change(
      ids,
      { enabled },
      inRequests(chatId ? { layer: 'chat', chatId, tools } : { layer: 'user', tools }),
    );
  }

  /** What this chat alone uses or does not, all chats of this person do from now on. */
  switchEverywhere(): Promise<void> {
    const chatId = this.#chatId;
    const tools = this.here.map(({ toolId, enabled }) => ({ toolId, enabled }));
    if (!chatId || tools.length === 0) return Promise.resolve();
    const back = tools.map(({ toolId }) => ({ toolId, enabled: null }));
    return this.#change([], {}, [
      ...inRequests({ layer: 'user', tools }),
      ...inRequests({ layer: 'chat', chatId, tools: back }),
    ]);
  }

  /** For all chats of this person, or for everybody. Null takes back what was said last: for this
      chat, else for all of them. */
  setPolicy(
    ids: readonly ToolId[],
    policy: Policy | null,
    layer: 'user' | 'organisation' = 'user',
  ): Promise<void> {
    const chatId = this.#chatId;
    const meant = new Set(ids);
    const saidHere = this.#all.filter(
      ({ toolId, policyBy }) => meant.has(toolId) && policyBy === 'chat',
    );
    const here = new Set(layer === 'user' && chatId ? saidHere.map(({ toolId }) => toolId) : []);
    // What was said for this chat would overrule what is said for all.
    const forget = [...here].map((toolId) => ({ toolId, policy: null }));
    const said = ids.filter((toolId) => policy !== null || !here.has(toolId));
    return this.#change(ids, { policy }, [
      ...inRequests({ layer, tools: said.map((toolId) => ({ toolId, policy })) }),
      ...inRequests({ layer: 'chat', chatId, tools: forget }),
    ]);
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

function inRequests(change: ToolsChange): ToolsChange[] {
  const count = Math.ceil(change.tools.length / MAX_CHANGES);
  return Array.from({ length: count }, (_, index) => ({
    ...change,
    tools: change.tools.slice(index * MAX_CHANGES, (index + 1) * MAX_CHANGES),
  }));
}
