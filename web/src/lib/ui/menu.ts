import type { Component } from 'svelte';

export interface MenuItem {
  label: string;
  icon?: Component<{ size?: number | string }>;
  /** Given for one of several choices; true for the present one. */
  checked?: boolean;
  danger?: boolean;
  /** Begins a group of its own, which is called this. */
  heading?: string;
  /** What there is to know about that group. */
  note?: string;
  run(): void;
}

/** The item that a key leads to, from the one that has the focus. */
export function moveInMenu(key: string, labels: readonly string[], from: number): number {
  const count = labels.length;
  switch (key) {
    case 'ArrowDown':
      return (from + 1) % count;
    case 'ArrowUp':
      return (from - 1 + count) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default: {
      if (key.length !== 1) return from;
      const fits = (label?: string) => label?.toLowerCase().startsWith(key.toLowerCase());
      const step = labels.findIndex((_, step) => fits(labels[(from + 1 + step) % count]));
      return step < 0 ? from : (from + 1 + step) % count;
    }
  }
}
