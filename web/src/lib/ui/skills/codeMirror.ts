// CodeMirror as the page uses it: its colours are the tokens of `app.css`, so that it follows the
// theme.
import { indentWithTab } from '@codemirror/commands';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import type { ModuleLanguage } from '$lib/skills/module';

interface Options {
  text: string;
  /** What the field is called, and the id of what explains it. */
  label: string;
  describedBy: string;
  onchange: (text: string) => void;
}

export interface CodeField {
  setText(text: string): void;
  setLanguage(language: ModuleLanguage): void;
  /** Marks a line; nothing takes the mark away. */
  mark(problem: { line: number; message: string } | undefined): void;
  goTo(line: number): void;
  focus(): void;
  destroy(): void;
}

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--page)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overscrollBehavior: 'contain' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'var(--accent-tint)' },
  '.cm-gutters': {
    backgroundColor: 'var(--page)',
    color: 'var(--text-faint)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in oklch, var(--tint) 55%, transparent)',
  },
  '.cm-activeLineGutter': { color: 'var(--text)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--tint)',
    border: '0',
    color: 'var(--text-faint)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--pressed)',
    outline: '0',
  },
  '.cm-selectionMatch, .cm-searchMatch': { backgroundColor: 'var(--pressed)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-tint)' },
  '.cm-tooltip': {
    border: '0',
    borderRadius: 'var(--radius)',
    backgroundColor: 'var(--float)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--pressed)',
    color: 'var(--text)',
  },
  '.cm-diagnostic': { padding: '6px 10px', borderLeft: '0', fontFamily: 'var(--sans)' },
  '.cm-panels': { backgroundColor: 'var(--side)', color: 'var(--text)' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search': { fontSize: '13px' },
  '.cm-textfield': {
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    backgroundColor: 'var(--page)',
    color: 'var(--text)',
  },
  '.cm-button': {
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    backgroundImage: 'none',
    backgroundColor: 'transparent',
    color: 'var(--text)',
  },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.self], color: 'var(--accent-strong)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--green)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--amber)' },
  { tag: [tags.comment, tags.docComment], color: 'var(--text-faint)', fontStyle: 'italic' },
  { tag: tags.docString, color: 'var(--text-faint)' },
  {
    tag: [tags.definition(tags.function(tags.variableName)), tags.className, tags.typeName],
    fontWeight: '600',
  },
  { tag: [tags.meta, tags.operator, tags.punctuation], color: 'var(--text-soft)' },
  { tag: tags.invalid, color: 'var(--red)' },
]);

/** Each is a file of its own: one at a time is written in. */
const parsers: Record<ModuleLanguage, () => Promise<Extension>> = {
  python: async () => (await import('@codemirror/lang-python')).python(),
  node: async () => (await import('@codemirror/lang-javascript')).javascript(),
};
const indents: Record<ModuleLanguage, string> = { python: '    ', node: '  ' };

export function createCodeField(parent: HTMLElement, options: Options): CodeField {
  const spoken = new Compartment();
  let wanted: ModuleLanguage | undefined;
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        // Esc belongs to the field: with Tab it leaves it, and it must not close what is around it.
        keymap.of([indentWithTab, { key: 'Escape', run: () => true, preventDefault: true }]),
        basicSetup,
        lintGutter(),
        spoken.of([]),
        syntaxHighlighting(colours),
        theme,
        EditorView.contentAttributes.of({
          'aria-label': options.label,
          'aria-describedby': options.describedBy,
          tabindex: '0',
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onchange(update.state.doc.toString());
        }),
      ],
    }),
  });

  const lineAt = (line: number) => {
    const { doc } = view.state;
    return doc.line(Math.max(1, Math.min(line, doc.lines)));
  };

  return {
    setText(text) {
      const { doc } = view.state;
      if (doc.toString() === text) return;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    },
    setLanguage(language) {
      const indent = indentUnit.of(indents[language]);
      wanted = language;
      view.dispatch({ effects: spoken.reconfigure(indent) });
      // Without its colours it can be written all the same.
      parsers[language]().then(
        (parser) => {
          if (wanted !== language) return;
          view.dispatch({ effects: spoken.reconfigure([indent, parser]) });
        },
        () => {},
      );
    },
    mark(problem) {
      const place = problem && lineAt(problem.line);
      const diagnostics = place
        ? [{ from: place.from, to: place.to, severity: 'error' as const, message: problem.message }]
        : [];
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    goTo(line) {
      const { from } = lineAt(line);
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
