import { useSyncExternalStore } from 'react';

/** The reader's choices for the look of the page, stored in this browser. */
export interface Appearance {
  readonly theme: 'system' | 'light' | 'dark';
  readonly clock: 'local' | 'utc';
}

const storageKey = 'conclave.appearance';
const usual: Appearance = { theme: 'system', clock: 'local' };
const listeners = new Set<() => void>();

function stored(): Appearance {
  try {
    return { ...usual, ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Appearance>) };
  } catch {
    // The browser stores nothing, or something else under this name.
    return usual;
  }
}
let current = stored();

export function applyAppearance(): void {
  document.documentElement.dataset.theme = current.theme;
}

export function changeAppearance(change: Partial<Appearance>): void {
  current = { ...current, ...change };
  applyAppearance();
  try {
    localStorage.setItem(storageKey, JSON.stringify(current));
  } catch {
    // Then the choice lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

export const useAppearance = (): Appearance =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
