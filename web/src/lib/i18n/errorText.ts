// Errors of the server in the words of the page. An error is data, `{code, message, params}`: in
// English its message stands as it is, and the other languages have words for every code.
import { ApiError } from '$lib/api/client';
import type { ErrorDetail, ErrorParam, ToolError } from '$lib/api/types';
import { language } from './language.svelte';

export type ErrorData = Pick<ErrorDetail, 'code' | 'message' | 'params'>;

/** The text of what went wrong with a request. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError) || error.unreachable) return language.messages.serverSilent;
  return describeError(error);
}

/** An error of the server in the language of the page. */
export function describeError(error: ErrorData): string {
  const { code, message, params } = error;
  if (language.code === 'en') return message;
  const template = language.errors[code];
  // A newer server may have codes that this page has no words for.
  if (template === undefined) return language.messages.serverDetail(message);
  const texts = Object.entries(params ?? {}).map(([name, value]) => [name, describeParam(value)]);
  return fillTemplate(template, { message, ...Object.fromEntries(texts) });
}

/** Why a call failed: what Tenon says in the language of the page, what a tool said as it is. */
export function describeCallError({ code, message, params }: ToolError): string {
  return code === undefined ? message : describeError({ code, message, params });
}

function describeParam(value: ErrorParam): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? joinSentences(value.map(describeError)) : describeError(value);
}

/** Sentences follow each other; what is no sentence is separated by semicolons. */
function joinSentences(texts: string[]): string {
  return texts.reduce((before, text) => {
    if (/[。！？]$/.test(before)) return before + text;
    return `${before}${/[.!?…]$/.test(before) ? ' ' : '；'}${text}`;
  });
}

/** Puts parameters in for `{name}`. A part in square brackets is left out when one in it is
    empty. */
export function fillTemplate(template: string, params: Record<string, string>): string {
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => params[name] ?? whole);
  const isWhole = (text: string) =>
    [...text.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => params[name]);
  return template
    .replace(/\[([^\]]*)\]|[^[]+/g, (part, optional?: string) => {
      if (optional === undefined) return fill(part);
      return isWhole(optional) ? fill(optional) : '';
    })
    .trimEnd();
}
