// The prompts that can be put into a message. They are loaded when somebody types a slash.
import { prompts as api } from '$lib/api/experts';
import type { PromptView, ServerPromptView } from '$lib/api/types';

export class Prompts {
  saved = $state.raw<readonly PromptView[]>([]);
  offered = $state.raw<readonly ServerPromptView[]>([]);
  loading = $state(false);

  /** Never fails: what cannot be had is not offered. Tool servers may take a while. */
  async load(): Promise<void> {
    if (this.loading) return;
    this.loading = true;
    const saved = api.all().then((saved) => (this.saved = saved));
    const offered = api.offered().then((offered) => (this.offered = offered));
    await Promise.allSettled([saved, offered]);
    this.loading = false;
  }

  async fill(name: string, values: Record<string, string> = {}): Promise<string> {
    const { text } = await api.fill({ name, arguments: values });
    return text;
  }
}
