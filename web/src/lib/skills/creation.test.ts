import { expect, test } from 'vitest';
import { ApiError } from '$lib/api/error';
import type { CreateEvent, SkillDetail } from '$lib/api/types';
import { createdSkill } from './creation';

async function* told(...events: CreateEvent[]) {
  yield* events;
}

const line = (text: string): CreateEvent => ({ type: 'line', line: text });

test('what installs the packages is told until the skill is there', async () => {
  const lines: string[] = [];
  const skill = { id: 's', title: 'Docx' } as SkillDetail;
  const events = told(line('pip install docx2txt'), line('Done'), { type: 'created', skill });
  expect(await createdSkill(events, (text) => lines.push(text))).toBe(skill);
  expect(lines).toEqual(['pip install docx2txt', 'Done']);
});

test('what the server refuses is an error of the request, also where it ends without a word', async () => {
  const detail = { code: 'setup_failed', message: 'pip could not', params: {}, field: 'code' };
  const failing = createdSkill(told(line('pip'), { type: 'error', detail }), () => {});
  await expect(failing).rejects.toMatchObject({ code: 'setup_failed', field: 'code' });
  const cut = await createdSkill(told(line('pip')), () => {}).catch((error: unknown) => error);
  expect(cut instanceof ApiError && cut.unreachable).toBe(true);
});
