// Footnotes as GitHub has them: `[^name]` in the text, `[^name]: words` anywhere.
// Their names are kept among the link definitions, with the mark in front.
import type { TokenizerAndRendererExtension, TokenizerThis } from 'marked';
import { escapeHtml } from './escape';

const definition =
  /^ {0,3}\[\^([^\]\s]+)\]:[ \t]*([^\n]*(?:\n(?! {0,3}\[\^[^\]\s]+\]:)[ \t]*[^\s][^\n]*|\n[ \t]*\n+(?: {2,}|\t)[^\n]+)*)(?:\n+|$)/;

const noteDefinition: TokenizerAndRendererExtension = {
  name: 'noteDefinition',
  level: 'block',
  start: (source) => source.match(/\n {0,3}\[\^[^\]\s]+\]:/)?.index,
  tokenizer(source) {
    const match = definition.exec(source);
    if (!match) return undefined;
    return { type: 'noteDefinition', raw: match[0], name: match[1], text: match[2]?.trim() ?? '' };
  },
  renderer: () => '',
};

const noteReference: TokenizerAndRendererExtension = {
  name: 'noteReference',
  level: 'inline',
  start: (source) => source.match(/\[\^/)?.index,
  tokenizer(this: TokenizerThis, source) {
    const match = /^\[\^([^\]\s]+)\]/.exec(source);
    const name = match?.[1];
    if (name === undefined || !Object.hasOwn(this.lexer.tokens.links, `^${name}`)) return undefined;
    return { type: 'noteReference', raw: match?.[0] ?? '', name };
  },
  renderer({ name }) {
    const text = escapeHtml(String(name));
    return `<sup><button type="button" class="note" data-note="${text}">${text}</button></sup>`;
  },
};

export const noteExtensions = [noteDefinition, noteReference];
