// Figures of charts: how high an axis is, and where its lines stand.

/** The smallest round figure that is not below `value`: 1, 2 or 5 and zeros. */
export function roundUp(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= value) ?? value;
}

/** A part of a stacked bar, in shares of the height of the chart. */
export interface BarPart {
  series: number;
  from: number;
  to: number;
}

/** A value of each series at one point of a chart; absent where nothing was measured. */
export type PointValues = readonly (number | undefined)[];

/** The colour of a series: by what it means, or by its place among several of a kind. */
export type ChartTone = 'accent' | 'red' | 'neutral' | (typeof PLACES)[number] | 'others';

const PLACES = ['first', 'second', 'third', 'fourth', 'fifth'] as const;

/** Some of a kind and all others together, as series of a chart: `whole` is what all of them have
    at each point. */
export function rankedSeries(
  rows: readonly { name: string; values: readonly number[] }[],
  whole: readonly number[],
  others: string,
): { series: { name: string; tone: ChartTone; total: number }[]; values: number[][] } {
  const sum = (figures: readonly number[]) => figures.reduce((all, figure) => all + figure, 0);
  const ranked = rows.slice(0, PLACES.length);
  const rest = whole.map((all, point) => all - sum(ranked.map(({ values }) => values[point] ?? 0)));
  const series = ranked.map(({ name, values }, place) => ({
    name,
    tone: PLACES[place] ?? ('others' as const),
    total: sum(values),
  }));
  const hasRest = rest.some((figure) => figure > 0);
  return {
    series: hasRest ? [...series, { name: others, tone: 'others', total: sum(rest) }] : series,
    values: whole.map((_, point) => {
      const figures = ranked.map(({ values }) => values[point] ?? 0);
      return hasRest ? [...figures, Math.max(0, rest[point] ?? 0)] : figures;
    }),
  };
}

/** The parts of a bar, from below; those that are nothing are left out. */
export function stackBar(values: PointValues, top: number): BarPart[] {
  let from = 0;
  return values.flatMap((value = 0, series) => {
    const part = { series, from, to: from + value / top };
    from = part.to;
    return value > 0 ? [part] : [];
  });
}

/** Which labels are shown, by their numbers, so that they do not touch: each where it first stands,
    and at most `most` of them, evenly. */
export function shownLabels(labels: readonly string[], most: number): number[] {
  const firsts = labels.flatMap((label, index) => (label === labels[index - 1] ? [] : [index]));
  const step = Math.max(1, Math.ceil(firsts.length / most));
  return firsts.filter((_, index) => index % step === 0);
}

/** "12%", "0.4%", "< 0.1%" */
export function formatShare(part: number, whole: number, locale: string): string {
  if (whole === 0 || part === 0)
    return new Intl.NumberFormat(locale, { style: 'percent' }).format(0);
  const share = part / whole;
  const format = new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: share < 0.1 ? 1 : 0,
  });
  return share < 0.001 ? `< ${format.format(0.001)}` : format.format(share);
}

/** "1.2K", "3.4M", "1.2万": figures for which there is little room. */
export function formatShort(count: number, locale: string): string {
  return new Intl.NumberFormat(locale, {
    notation: 'compact',
    maximumFractionDigits: count < 10_000 ? 1 : 0,
  }).format(count);
}
