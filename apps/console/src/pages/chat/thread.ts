import { useSyncExternalStore } from 'react';

/** One question of a conversation and the run that answers it. */
export interface Turn {
  readonly runId: string;
  readonly question: string;
  /** Template that was used. */
  readonly model: string;
}

/** How a question is asked: with a chat template, or as a goal of a step-by-step run. */
export type ChatMode = 'chat' | 'reasoning';

export interface Thread {
  readonly turns: readonly Turn[];
  /** Answers by run, for the history that is sent with the next question. */
  readonly answers: Readonly<Record<string, string>>;
}

const storageKey = 'conclave.thread';
const empty: Thread = { turns: [], answers: {} };
const listeners = new Set<() => void>();

/** The conversation of this tab; it survives a reload and ends with the tab. */
function stored(): Thread {
  try {
    return { ...empty, ...(JSON.parse(sessionStorage.getItem(storageKey) ?? '{}') as Partial<Thread>) };
  } catch {
    return empty;
  }
}
let current = stored();

function keep(next: Thread): void {
  current = next;
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(next));
  } catch {
    // The conversation lasts until the page is left.
  }
  for (const listener of listeners) listener();
}

export const useThread = (): Thread =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );

export const addTurn = (turn: Turn): void => keep({ ...current, turns: [...current.turns, turn] });
/** A retry replaces the turn that it repeats. */
export const replaceTurn = (runId: string, turn: Turn): void =>
  keep({ ...current, turns: current.turns.map((one) => (one.runId === runId ? turn : one)) });
export const keepAnswer = (runId: string, answer: string): void => {
  if (current.answers[runId] !== answer) keep({ ...current, answers: { ...current.answers, [runId]: answer } });
};
export const newThread = (): void => keep(empty);
