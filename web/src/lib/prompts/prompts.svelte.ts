// The prompts and skills that can be put into a message. They are loaded when somebody types a
// slash.
import { prompts as api } from '$lib/api/experts';
import { skills as skillsApi } from '$lib/api/skills';
import type { PromptView, ServerPromptView, SkillView } from '$lib/api/types';

export class Prompts {
  saved = $state.raw<readonly PromptView[]>([]);
  offered = $state.raw<readonly ServerPromptView[]>([]);
  skills = $state.raw<readonly SkillView[]>([]);
  loading = $state(false);

  /** Never fails: what cannot be had is not offered. Tool servers may take a while. */
  async load(): Promise<void> {
    if (this.loading) return;
    this.loading = true;
    const saved = api.all().then((saved) => (this.saved = saved));
    const offered = api.offered().then((offered) => (this.offered = offered));
    const skills = skillsApi.all().then((skills) => (this.skills = skills));
    await Promise.allSettled([saved, offered, skills]);
    this.loading = false;
  }

  async fill(name: string, values: Record<string, string> = {}): Promise<string> {
    const { text } = await api.fill({ name, arguments: values });
    return text;
  }
}
