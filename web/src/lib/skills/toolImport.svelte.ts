// Tools of an export of Open WebUI on their way in: each is checked, then saved as a skill.
import type { ModuleCode, ModuleFaultView, ModuleView, NewModule } from '$lib/api/types';
import type { ExportedTool } from './openWebui';

export type ImportState = 'checking' | 'ready' | 'refused' | 'importing' | 'imported' | 'failed';

export interface ImportRow {
  tool: ExportedTool;
  state: ImportState;
  /** The names of its tools, once they are known. */
  offers: readonly string[];
  isChosen: boolean;
  /** Why it was refused. */
  error?: ModuleFaultView;
  /** What the server said in place of an answer. */
  failure?: unknown;
}

interface Server {
  /** These fail with what the server said. */
  describe(module: ModuleCode): Promise<ModuleView>;
  create(module: NewModule): Promise<unknown>;
}

export class ToolImport {
  rows = $state.raw<readonly ImportRow[]>([]);
  busy = $state(false);
  chosen = $derived(this.rows.filter((row) => row.state === 'ready' && row.isChosen));
  imported = $derived(this.rows.filter((row) => row.state === 'imported').length);
  #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  /** One after the other: each starts a program on the server. */
  async check(tools: readonly ExportedTool[]): Promise<void> {
    this.rows = tools.map((tool) => ({ tool, state: 'checking', offers: [], isChosen: true }));
    for (const [index, { content }] of tools.entries()) {
      try {
        const view = await this.#server.describe({ code: content, language: 'python' });
        const { error } = view;
        const offers = view.tools.map(({ name }) => name);
        // Packages are set up when it is saved.
        const isRefused = error !== undefined && error !== null && error.kind !== 'missing_module';
        this.#set(index, { state: isRefused ? 'refused' : 'ready', offers, error });
      } catch (failure) {
        this.#set(index, { state: 'failed', failure });
      }
    }
  }

  choose(index: number, isChosen: boolean): void {
    this.#set(index, { isChosen });
  }

  async import(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    for (const row of this.chosen) {
      const index = this.rows.indexOf(row);
      const { name, content } = row.tool;
      this.#set(index, { state: 'importing' });
      try {
        await this.#server.create({ code: content, language: 'python', name });
        this.#set(index, { state: 'imported', error: undefined });
      } catch (failure) {
        this.#set(index, { state: 'failed', failure });
      }
    }
    this.busy = false;
  }

  #set(index: number, change: Partial<ImportRow>): void {
    this.rows = this.rows.map((row, at) => (at === index ? { ...row, ...change } : row));
  }
}
