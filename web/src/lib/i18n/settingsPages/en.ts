// The pages of the settings: their names, and the words they are also found by.
import type { SectionGroupName } from '$lib/account/sections';
import type { Section } from '$lib/router.svelte';

export const settingsPagesEn = {
  find: 'Find a setting',
  all: 'All settings',
  nothing: (words: string) => `No setting found for “${words}”.`,
  groups: {
    you: 'You',
    tools: 'Tools',
    models: 'Models',
    team: 'Team',
  } as Record<SectionGroupName, string>,
  titles: {
    account: 'Account',
    instructions: 'Instructions',
    appearance: 'Appearance',
    notifications: 'Notifications',
    shortcuts: 'Shortcuts',
    keys: 'API keys',
    data: 'Data',
    servers: 'Tool servers',
    local: 'This computer',
    skills: 'Skills',
    policies: 'Permissions',
    models: 'Models',
    experts: 'Experts',
    prompts: 'Prompts',
    people: 'People',
    dashboard: 'Dashboard',
    log: 'Log',
  } as Record<Section, string>,
  /** Never shown: what people type who look for it. */
  keywords: {
    account: 'profile name e-mail address password sessions log out everywhere',
    instructions: 'custom instructions about me style tone language answers',
    appearance:
      'theme dark light system colour color text font size language 中文 简体 繁體 English',
    notifications: 'notify alert desktop background answer ready approval sound',
    shortcuts: 'keyboard keys hotkeys cheat sheet',
    keys: 'token secret program script access scope MCP client Cursor Claude curl',
    data: 'export import backup download delete all chats history privacy',
    servers: 'MCP OpenAPI mcpo stdio http add server secrets variables log in OAuth',
    local: 'localhost local tools this computer port mcpo scan device',
    skills: 'package SKILL.md python javascript write tool install Open WebUI',
    policies: 'policy policies allow ask deny approval approve permission tool',
    models: 'provider endpoint OpenAI Anthropic Ollama LM Studio key connect price default',
    experts: 'assistant persona instructions system prompt agent',
    prompts: 'template slash command snippet',
    people: 'users members invite invitation role admin sign up team',
    dashboard: 'statistics charts usage tokens cost latency errors calls',
    log: 'audit history who did what events',
  } as Record<Section, string>,
};

export type SettingsPagesMessages = typeof settingsPagesEn;
