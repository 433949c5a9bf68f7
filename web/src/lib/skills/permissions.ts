// What a skill asks for, line by line, and what of it is new.
import type {
  ChangeKind,
  PermissionKind,
  SkillDiff,
  SkillFile,
  SkillPermissions,
} from '$lib/api/types';

export interface PermissionGroup {
  kind: PermissionKind;
  lines: PermissionLine[];
}

export interface PermissionLine {
  /** Empty for the network, which is one thing. */
  value: string;
  /** What a variable is for, or the beginning of a file's hash. */
  note: string;
  /** Absent where nothing differs, or nothing was there before. */
  change?: ChangeKind;
}

/** As many digits as tell two files apart at a glance. */
const HASH_LENGTH = 12;

/** In the order in which a person should look at it: what reaches furthest comes first. */
const KINDS: readonly PermissionKind[] = [
  'network',
  'server',
  'command',
  'script',
  'secret',
  'variable',
  'package',
];

export function shortHash(hash: string): string {
  return hash.replace(/^sha256[:-]/, '').slice(0, HASH_LENGTH);
}

/** `files` are those that the hashes of scripts are taken from. */
export function permissionGroups(
  permissions: SkillPermissions,
  { diff, files }: { diff?: SkillDiff; files?: readonly Pick<SkillFile, 'path' | 'hash'>[] } = {},
): PermissionGroup[] {
  const hashes = new Map([
    ...(diff?.files ?? []).map(({ path, newHash }) => [path, newHash ?? ''] as const),
    ...(files ?? []).map(({ path, hash }) => [path, hash] as const),
  ]);
  // Against nothing, everything is new, and marks would tell nothing.
  const changes = diff?.oldHash ? diff.permissions : [];
  return KINDS.map((kind) => {
    const changeOf = new Map(
      changes.filter((change) => change.kind === kind).map(({ value, change }) => [value, change]),
    );
    const asked = askedFor(kind, permissions);
    const gone = [...changeOf].flatMap(([value, change]) =>
      change === 'removed' && !asked.some((line) => line.value === value)
        ? [{ value, note: '', change }]
        : [],
    );
    const lines = asked.map((line) => ({
      ...line,
      note: kind === 'script' ? shortHash(hashes.get(line.value) ?? '') : line.note,
      change: changeOf.get(line.value),
    }));
    return { kind, lines: [...lines, ...gone] };
  }).filter(({ lines }) => lines.length > 0);
}

function askedFor(kind: PermissionKind, permissions: SkillPermissions): PermissionLine[] {
  const plain = (values: readonly string[]) => values.map((value) => ({ value, note: '' }));
  const { network, commands, scripts, servers, variables, requirements } = permissions;
  const named = (isSecret: boolean) =>
    variables
      .filter((variable) => variable.isSecret === isSecret)
      .map(({ name, description }) => ({ value: name, note: description ?? '' }));
  switch (kind) {
    case 'network':
      return network ? plain(['']) : [];
    case 'command':
      return plain(commands);
    case 'script':
      return plain(scripts);
    case 'server':
      return plain(servers);
    case 'variable':
      return named(false);
    case 'secret':
      return named(true);
    case 'package':
      return plain([...requirements.python, ...requirements.node]);
  }
}
