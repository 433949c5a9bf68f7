// A skill that is made of code, followed until it is there: its packages may take minutes.
import { ApiError } from '$lib/api/error';
import type { CreateEvent, SkillDetail } from '$lib/api/types';

/** How a request that takes long is ended, and who hears how it goes. */
export interface CreateOptions {
  signal: AbortSignal;
  onprogress: (line: string) => void;
}

/** Fails with what the server said. */
export async function createdSkill(
  events: AsyncIterable<CreateEvent>,
  onprogress: CreateOptions['onprogress'],
): Promise<SkillDetail> {
  for await (const event of events) {
    if (event.type === 'created') return event.skill;
    if (event.type === 'error') throw ApiError.of(event.detail);
    onprogress(event.line);
  }
  throw ApiError.noAnswer('The answer has no end.');
}
