// The picture of each page of the settings.
import Bell from '@lucide/svelte/icons/bell';
import Bot from '@lucide/svelte/icons/bot';
import Box from '@lucide/svelte/icons/box';
import ChartColumn from '@lucide/svelte/icons/chart-column';
import Database from '@lucide/svelte/icons/database';
import Key from '@lucide/svelte/icons/key-round';
import Keyboard from '@lucide/svelte/icons/keyboard';
import Laptop from '@lucide/svelte/icons/laptop';
import NotebookPen from '@lucide/svelte/icons/notebook-pen';
import Palette from '@lucide/svelte/icons/palette';
import Puzzle from '@lucide/svelte/icons/puzzle';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Server from '@lucide/svelte/icons/server';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import Slash from '@lucide/svelte/icons/square-slash';
import User from '@lucide/svelte/icons/user';
import Users from '@lucide/svelte/icons/users';
import type { Section } from '$lib/router.svelte';
import type { Command } from '../palette';

export const sectionIcons: Record<Section, Command['icon']> = {
  account: User,
  instructions: NotebookPen,
  appearance: Palette,
  notifications: Bell,
  shortcuts: Keyboard,
  keys: Key,
  data: Database,
  servers: Server,
  local: Laptop,
  skills: Puzzle,
  policies: ShieldCheck,
  models: Box,
  experts: Bot,
  prompts: Slash,
  people: Users,
  dashboard: ChartColumn,
  log: ScrollText,
};
