import { describe, expect, it } from 'vitest';
import { formatShare, formatShort, rankedSeries, roundUp, shownLabels, stackBar } from './chart';

describe('an axis', () => {
  it.each([
    [0, 1],
    [1, 1],
    [3, 5],
    [10, 10],
    [11, 20],
    [4_999, 5_000],
    [5_001, 10_000],
  ])('that has to reach %d ends at %d', (value, expected) => {
    expect(roundUp(value)).toBe(expected);
  });
});

describe('a bar', () => {
  it('is stacked from below', () => {
    expect(stackBar([6, 0, 2], 10)).toEqual([
      { series: 0, from: 0, to: 0.6 },
      { series: 2, from: 0.6, to: 0.8 },
    ]);
    expect(stackBar([0, 0], 10)).toEqual([]);
    expect(stackBar([undefined], 10)).toEqual([]);
    expect(stackBar([undefined, 2], 10)).toEqual([{ series: 1, from: 0, to: 0.2 }]);
  });
});

describe('series of those with the most', () => {
  const ann = { name: 'Ann', values: [3, 0] };
  const bob = { name: 'Bob', values: [1, 1] };

  it('have the others on top', () => {
    expect(rankedSeries([ann, bob], [4, 6], 'Others')).toEqual({
      series: [
        { name: 'Ann', tone: 'first', total: 3 },
        { name: 'Bob', tone: 'second', total: 2 },
        { name: 'Others', tone: 'others', total: 5 },
      ],
      values: [
        [3, 1, 0],
        [0, 1, 5],
      ],
    });
  });

  it('are all, where there are no others', () => {
    const { series, values } = rankedSeries([ann, bob], [4, 1], 'Others');
    expect(series.map(({ name }) => name)).toEqual(['Ann', 'Bob']);
    expect(values).toEqual([
      [3, 1],
      [0, 1],
    ]);
  });

  it('are five at most', () => {
    const six = Array.from({ length: 6 }, () => bob);
    const { series } = rankedSeries(six, [6, 6], 'Others');
    expect(series.map(({ tone }) => tone)).toEqual([
      'first',
      'second',
      'third',
      'fourth',
      'fifth',
      'others',
    ]);
    expect(series.at(-1)?.total).toBe(2);
  });
});

describe('labels', () => {
  it('are as many as there is room for', () => {
    const hours = Array.from({ length: 24 }, (_, hour) => `${hour}:00`);
    expect(shownLabels(hours.slice(0, 3), 6)).toEqual([0, 1, 2]);
    expect(shownLabels(hours, 6)).toEqual([0, 4, 8, 12, 16, 20]);
    expect(shownLabels([], 6)).toEqual([]);
    // Four times of each day: a date stands where the day begins, as far from the next as from the
    // last.
    const days = Array.from({ length: 28 }, (_, index) => `${10 + Math.floor(index / 4)} Nov`);
    expect(shownLabels(days, 6)).toEqual([0, 8, 16, 24]);
  });
});

describe('figures', () => {
  it('are as exact as it is worth reading', () => {
    expect(formatShare(0, 0, 'en')).toBe('0%');
    expect(formatShare(1, 3, 'en')).toBe('33%');
    expect(formatShare(1, 250, 'en')).toBe('0.4%');
    expect(formatShare(1, 100_000, 'en')).toBe('< 0.1%');
    expect(formatShort(950, 'en')).toBe('950');
    expect(formatShort(1_234, 'en')).toBe('1.2K');
    expect(formatShort(12_345, 'zh-Hans')).toBe('1万');
  });
});
