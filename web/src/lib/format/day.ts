import type { ChatSummary } from '$lib/api/types';

export type Day = 'today' | 'yesterday' | 'earlier';

/** Chats by the day they were last used, newest first; a day without chats is left out. */
export function groupByDay(
  chats: readonly ChatSummary[],
  now: Date,
): { day: Day; chats: ChatSummary[] }[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  // By the calendar and not by 24 hours: a day with a clock change is shorter or longer.
  const before = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1).getTime();
  const groups: Record<Day, ChatSummary[]> = { today: [], yesterday: [], earlier: [] };
  for (const chat of chats.toSorted((a, b) => b.updatedAt - a.updatedAt)) {
    if (chat.updatedAt >= midnight) groups.today.push(chat);
    else if (chat.updatedAt >= before) groups.yesterday.push(chat);
    else groups.earlier.push(chat);
  }
  return (['today', 'yesterday', 'earlier'] as const)
    .map((day) => ({ day, chats: groups[day] }))
    .filter((group) => group.chats.length > 0);
}

/** A day as it is read beside others: without the year while it is this one. */
export function formatDay(at: number, now: Date, locale: string): string {
  const day = new Date(at);
  const year = day.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return new Intl.DateTimeFormat(locale, { year, month: 'short', day: 'numeric' }).format(day);
}
