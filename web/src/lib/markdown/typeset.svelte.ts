// Puts formulas into HTML that was made from Markdown. Until KaTeX is there, and
// where the TeX is broken, its source stands in its place.
type FormulaHtml = typeof import('./katex').formulaHtml;

/** A growing paragraph is drawn again with every word; its formulas are not. */
const MAX_CACHED = 500;

let formulaHtml = $state.raw<FormulaHtml>();
let loading: Promise<void> | undefined;
const cache = new Map<string, string | undefined>();

/** Draws every formula below this element, if it can be drawn by now. */
export function typeset(root: ParentNode): void {
  const formulas = root.querySelectorAll('.math');
  if (formulas.length === 0) return;
  void loadKatex();
  const draw = formulaHtml;
  if (!draw) return;
  for (const element of formulas) {
    const source = element.textContent;
    const html = cached(source, () =>
      draw(withoutMarks(source), element.classList.contains('display')),
    );
    if (html === undefined) element.classList.add('broken');
    else element.innerHTML = html;
  }
}

/** Settles when formulas can be drawn, or KaTeX cannot be had. */
export function loadKatex(): Promise<void> {
  loading ??= import('./katex').then(
    (module) => {
      formulaHtml = module.formulaHtml;
    },
    // Asked again with the next formula.
    () => (loading = undefined),
  );
  return loading;
}

function cached(key: string, make: () => string | undefined): string | undefined {
  if (!cache.has(key)) {
    const oldest = cache.keys().next();
    if (cache.size >= MAX_CACHED && !oldest.done) cache.delete(oldest.value);
    cache.set(key, make());
  }
  return cache.get(key);
}

function withoutMarks(source: string): string {
  const marks = source.startsWith('$') && !source.startsWith('$$') ? 1 : 2;
  return source.slice(marks, -marks);
}
