// Skills for tests.
import type { SkillPermissions, SkillPreviewItem } from '$lib/api/types';

export function permissions(more: Partial<SkillPermissions> = {}): SkillPermissions {
  return {
    network: false,
    commands: [],
    scripts: [],
    servers: [],
    variables: [],
    requirements: { python: [], node: [] },
    ...more,
  };
}

export function previewItem(hash: string, more: Partial<SkillPreviewItem> = {}): SkillPreviewItem {
  return {
    name: hash,
    title: hash,
    description: '',
    folder: hash,
    hash,
    needsAdmin: false,
    permissions: permissions(),
    diff: {
      oldVersion: null,
      newVersion: null,
      oldHash: null,
      newHash: hash,
      instructionsChanged: true,
      tools: [],
      permissions: [],
      files: [],
    },
    ...more,
  };
}
