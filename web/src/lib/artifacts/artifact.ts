// Artifacts: pages and pictures that an answer has as code, and that can be looked at.
//
// Which blocks are versions of one artifact is a simple rule: those of one chat that have the
// same kind and the same name. The name is the file or title after the fence, else the
// document's own `<title>`; all blocks of a kind without either are versions of one artifact.

export type ArtifactKind = 'html' | 'svg';

/** One version, as an answer has it. */
export interface ArtifactSource {
  kind: ArtifactKind;
  /** Absent where the code does not say. */
  name?: string;
  text: string;
}

export interface Artifact {
  kind: ArtifactKind;
  name?: string;
  /** Oldest first. */
  versions: readonly string[];
}

const MAX_NAME_CHARS = 80;

/** Absent where the code is nothing that can be looked at. */
export function artifactKind(language: string, text: string): ArtifactKind | undefined {
  const name = language.toLowerCase();
  if (name === 'html' || name === 'htm' || name === 'xhtml') return 'html';
  if (name === 'svg') return 'svg';
  if (name !== 'xml' && name !== '') return undefined;
  if (/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)?<svg[\s>]/i.test(text)) return 'svg';
  return /^\s*<!doctype html/i.test(text) ? 'html' : undefined;
}

/** The code as an artifact, where it is one. */
export function artifactSource(code: {
  language: string;
  name?: string;
  text: string;
}): ArtifactSource | undefined {
  const kind = artifactKind(code.language, code.text);
  if (!kind) return undefined;
  const name = code.name ?? ownTitle(code.text);
  return name ? { kind, name, text: code.text } : { kind, text: code.text };
}

/** All versions of the artifact that this one belongs to; only this one where it stands nowhere. */
export function findArtifact(all: readonly ArtifactSource[], one: ArtifactSource): Artifact {
  const same = all.filter(({ kind, name }) => kind === one.kind && name === one.name);
  const versions: string[] = [];
  for (const { text } of same) {
    // The same text twice in a row is a repetition, not a version.
    if (versions.at(-1) !== text) versions.push(text);
  }
  if (!versions.includes(one.text)) versions.push(one.text);
  return { kind: one.kind, name: one.name, versions };
}

/** The document that a frame shows. */
export function previewDocument(kind: ArtifactKind, text: string): string {
  if (kind === 'html') return /^\s*<!doctype/i.test(text) ? text : `<!doctype html>\n${text}`;
  const style =
    'html,body{height:100%;margin:0}body{display:grid;place-items:center}svg{max-width:100%;max-height:100%}';
  // A prolog would be text in a page.
  const picture = text.replace(/^\s*<\?xml[^>]*>/i, '').replace(/<!doctype[^>]*>/i, '');
  return `<!doctype html>\n<style>${style}</style>\n${picture}`;
}

/** A name that every file system takes. */
export function downloadName({ kind, name }: Pick<Artifact, 'kind' | 'name'>): string {
  const base = (name ?? '')
    .replace(/^.*[\\/]/, '')
    .replace(/[\\/:*?"<>|\p{Cc}]+/gu, ' ')
    .replace(/^[. ]+|[. ]+$/g, '');
  if (!base) return `artifact.${kind}`;
  return base.toLowerCase().endsWith(`.${kind}`) ? base : `${base}.${kind}`;
}

function ownTitle(text: string): string | undefined {
  const title = /<title(?:\s[^>]*)?>([^<]{1,400})<\/title/i.exec(text)?.[1];
  const words = title?.replace(/\s+/g, ' ').trim();
  return words ? [...words].slice(0, MAX_NAME_CHARS).join('') : undefined;
}
