import type { OwnGateway } from '@conclave/app-standalone/own-gateway';
import type { Loaded } from '@conclave/platform';

/** Measured if no templates are named: one pass, the loop, and retrieval with reflection. */
export const usualTemplates: readonly string[] = ['conclave-fast', 'conclave', 'conclave-reflective-rag'];

/** A user's input for measuring templates with their own questions. */
export interface OwnMaterial {
  /** JSON Lines file of questions. */
  readonly questions: string;
  /** Folder of text and Markdown documents; null for the one in the configuration. */
  readonly documents: string | null;
  /** Ids of templates; null for the usual ones that are offered. */
  readonly templates: readonly string[] | null;
  /** File for the report; the plot (.svg) and the single answers (.jsonl) are written beside it. */
  readonly report: string;
  /** Questions asked at the same time. */
  readonly parallel: number;
  readonly signal: AbortSignal;
  /** Receives progress and warnings. */
  readonly terminal: { write(text: string): unknown };
  /** Default: the configuration of the working folder and the environment. */
  readonly loaded?: Loaded;
  readonly localServers?: OwnGateway['localServers'];
}

/** A mistake in the user's input; the message says what to change. */
export class MaterialMistake extends Error {}
