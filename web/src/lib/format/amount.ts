// Counts and money, as each language writes them.
import type { Cost } from '$lib/api/types';

export function formatCount(count: number, locale: string): string {
  return new Intl.NumberFormat(locale).format(count);
}

/**
 * "$0.0123", or "0.0123 CNY" where the language has no sign that could mean
 * only this currency. Small amounts keep the digits that make them differ.
 */
export function formatCost({ currency, micros }: Cost, locale: string): string {
  const amount = micros / 1_000_000;
  const digits: Intl.NumberFormatOptions =
    amount > 0 && amount < 1
      ? { maximumSignificantDigits: 3 }
      : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return (
    withSign(amount, currency, locale, digits) ??
    `${new Intl.NumberFormat(locale, digits).format(amount)} ${currency}`
  );
}

function withSign(
  amount: number,
  currency: string,
  locale: string,
  digits: Intl.NumberFormatOptions,
): string | undefined {
  try {
    const format = new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits });
    const parts = format.formatToParts(amount);
    const sign = parts.find((part) => part.type === 'currency')?.value ?? '';
    // "CN¥" and "XTS" are words, not signs.
    return /\p{Letter}/u.test(sign) ? undefined : format.format(amount);
  } catch {
    // A currency is what a person typed: "credits" is none that Intl knows.
    return undefined;
  }
}
