import { expect, test } from 'vitest';
import type { Diagnosis } from '$lib/local/diagnose';
import { fixGuideFor } from '$lib/local/fixGuide';
import { languages, language } from '../language.svelte';
import type { DiagnosisContext, DiagnosisText } from './en';
import { localMessages } from './messages';

/** One of each: the type makes sure that none is missing. */
const each: { [Kind in Diagnosis['kind']]: Extract<Diagnosis, { kind: Kind }> } = {
  blockedPort: { kind: 'blockedPort' },
  mixedContent: { kind: 'mixedContent' },
  policy: { kind: 'policy' },
  permissionAsk: { kind: 'permissionAsk' },
  permissionUnanswered: { kind: 'permissionUnanswered' },
  permissionDismissed: { kind: 'permissionDismissed' },
  permissionDenied: { kind: 'permissionDenied' },
  permissionNeedsHttps: { kind: 'permissionNeedsHttps' },
  notRunning: { kind: 'notRunning' },
  notRunningOrNotHttp: { kind: 'notRunningOrNotHttp' },
  notHttp: { kind: 'notHttp' },
  useHttp: { kind: 'useHttp' },
  useHttps: { kind: 'useHttps' },
  tlsNotTrusted: { kind: 'tlsNotTrusted' },
  tlsOrNotRunning: { kind: 'tlsOrNotRunning' },
  cors: { kind: 'cors' },
  preflightHeader: { kind: 'preflightHeader', header: 'x-mine' },
  preflightRefused: { kind: 'preflightRefused' },
  preflightMethod: { kind: 'preflightMethod', method: 'POST' },
  hiddenHeader: { kind: 'hiddenHeader', header: 'mcp-session-id' },
  tooSlow: { kind: 'tooSlow' },
  cut: { kind: 'cut' },
  needsKey: { kind: 'needsKey', given: false, status: 401 },
  wrongPath: { kind: 'wrongPath', status: 404 },
  notToolServer: { kind: 'notToolServer' },
  badSpec: { kind: 'badSpec', where: 'line 7' },
  badHandshake: { kind: 'badHandshake', why: 'it said moo' },
  hub: { kind: 'hub', why: 'it is away' },
};
const about = { host: 'localhost:8123', url: 'http://localhost:8123', origin: 'https://t.example' };

function tell(diagnosis: Diagnosis): DiagnosisText {
  return (localMessages().diagnoses[diagnosis.kind] as (about: DiagnosisContext) => DiagnosisText)({
    diagnosis,
    ...about,
  });
}

for (const { code } of languages) {
  test(`every diagnosis is told of in ${code}, with what to do`, () => {
    language.use(code);
    const w = localMessages();
    for (const diagnosis of Object.values(each)) {
      const { text, help } = tell(diagnosis);
      expect(text, diagnosis.kind).toMatch(/[.。]$|line 7$|it said moo$|it is away$|[?？]$/);
      expect(help, diagnosis.kind).not.toBe('');
      expect(w.short[diagnosis.kind], diagnosis.kind).not.toBe('');
      const remedy = fixGuideFor(diagnosis, about);
      for (const { maker } of remedy?.lines ?? []) {
        expect(w.captions[remedy?.topic ?? 'start'][maker], `${diagnosis.kind} ${maker}`).not.toBe(
          '',
        );
      }
    }
  });

  test(`what is known of a diagnosis is told in ${code}`, () => {
    language.use(code);
    const check = (diagnosis: Diagnosis, ...expected: string[]) => {
      const { text, help } = tell(diagnosis);
      for (const piece of expected) expect(text + help).toContain(piece);
    };
    check(each.cors, 'localhost:8123', 'https://t.example', 'CORS', '--strict-auth');
    check(each.preflightHeader, 'x-mine');
    check(each.preflightRefused, 'OPTIONS');
    check(each.wrongPath, '404');
    check(each.needsKey, '401');
    check({ ...each.needsKey, given: true, status: 403 }, '403');
    check(each.badSpec, 'line 7');
    check(each.badHandshake, 'it said moo');
    check(each.hub, 'it is away');
    check(each.tlsOrNotRunning, 'http://localhost:8123');
    check(each.permissionNeedsHttps, 'https://t.example');
  });

  test(`no word is left empty in ${code}`, () => {
    language.use(code);
    const { diagnoses: _diagnoses, captions: _captions, ...words } = localMessages();
    const empty = (value: unknown): boolean =>
      value === '' || (typeof value === 'object' && Object.values(value ?? {}).some(empty));
    expect(Object.entries(words).filter(([, word]) => empty(word))).toEqual([]);
  });
}
