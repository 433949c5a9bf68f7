// What to do about a module that cannot be used.
import type { ModuleFaultView, ModuleWarningView } from '$lib/api/types';
import type { SkillsMessages } from '$lib/i18n/skills/en';
import type { ModuleLanguage } from './module';

/** `join` writes names as code. Absent where the message of the error says all there is to say. */
export function moduleHelp(
  { kind, modules = [] }: ModuleFaultView,
  language: ModuleLanguage,
  w: SkillsMessages,
  join: (names: readonly string[]) => string,
): string | undefined {
  switch (kind) {
    case 'missing_module':
      return language === 'python'
        ? w.missingModules(join(modules))
        : w.missingNodeModules(join(modules));
    case 'internals':
      return w.internalModules(join(modules));
    case 'no_tools':
      return w.noTools[language];
    case 'syntax':
    case 'load':
      return undefined;
  }
}

/** What will not work of a module that can be used. */
export function warningText(
  { kind, names, tool, message }: ModuleWarningView,
  w: SkillsMessages,
  join: (names: readonly string[]) => string,
): string {
  switch (kind) {
    case 'internals':
      return w.internalsUsed(join(names));
    case 'parameter':
      return tool ? w.parameterUnserved(join([tool]), join(names)) : message;
  }
}
