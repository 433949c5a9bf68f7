// Tools of an export of Open WebUI on their way in: each is checked, then saved as a skill.
import type {
  ModuleCode,
  ModuleFaultView,
  ModuleView,
  ModuleWarningView,
  NewModule,
} from '$lib/api/types';
import type { CreateOptions } from './creation';
import type { ExportedTool } from './openWebui';

export type ImportState = 'checking' | 'ready' | 'refused' | 'importing' | 'imported' | 'failed';

export interface ImportRow {
  tool: ExportedTool;
  state: ImportState;
  /** The names of its tools, once they are known. */
  offers: readonly string[];
  isChosen: boolean;
  /** What of it will not work. */
  warnings: readonly ModuleWarningView[];
  /** The last line of what installs its packages. */
  progress?: string;
  /** Why it was refused. */
  error?: ModuleFaultView;
  /** What the server said in place of an answer. */
  failure?: unknown;
}

interface Server {
  /** These fail with what the server said. */
  describe(module: ModuleCode): Promise<ModuleView>;
  create(module: NewModule, options: CreateOptions): Promise<unknown>;
}

export class ToolImport {
  rows = $state.raw<readonly ImportRow[]>([]);
  busy = $state(false);
  chosen = $derived(this.rows.filter((row) => row.state === 'ready' && row.isChosen));
  imported = $derived(this.rows.filter((row) => row.state === 'imported').length);
  #server: Server;
  #abort = new AbortController();

  constructor(server: Server) {
    this.#server = server;
  }

  /** One after the other: each starts a program on the server. */
  async check(tools: readonly ExportedTool[]): Promise<void> {
    const row = { state: 'checking', offers: [], warnings: [], isChosen: true } as const;
    this.rows = tools.map((tool) => ({ tool, ...row }));
    for (const [index, { content }] of tools.entries()) {
      try {
        const view = await this.#server.describe({ code: content, language: 'python' });
        const { error, warnings } = view;
        const offers = view.tools.map(({ name }) => name);
        // Packages are set up when it is saved.
        const isRefused = error !== undefined && error !== null && error.kind !== 'missing_module';
        this.#set(index, { state: isRefused ? 'refused' : 'ready', offers, warnings, error });
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
      const { name, description, content } = row.tool;
      this.#set(index, { state: 'importing' });
      try {
        const module: NewModule = {
          code: content,
          language: 'python',
          name,
          ...(description && { meta: { description } }),
        };
        const onprogress = (progress: string) => this.#set(index, { progress });
        await this.#server.create(module, { signal: this.#abort.signal, onprogress });
        this.#set(index, { state: 'imported', error: undefined, progress: undefined });
      } catch (failure) {
        if (this.#abort.signal.aborted) break;
        this.#set(index, { state: 'failed', failure, progress: undefined });
      }
    }
    this.busy = false;
  }

  /** Imports nothing more; what was imported stays. */
  stop(): void {
    this.#abort.abort();
  }

  #set(index: number, change: Partial<ImportRow>): void {
    this.rows = this.rows.map((row, at) => (at === index ? { ...row, ...change } : row));
  }
}
