import type { Event, EventOf, EventSpec } from '../event.js';
import { CommandIssued, GapDetected, PlanCreated, PlanRequested, TimerFired } from './plan.js';
import {
  CallRecorded,
  DetailRead,
  KnowledgeProposed,
  LetterSettled,
  RunCompleted,
  RunErased,
  SettingChanged,
  StepRecorded,
} from './record.js';
import { ResultReady, TaskDispatched } from './task.js';

/** All events. The registry, the documentation and the test table are made from this list. */
export const events = [
  PlanRequested,
  PlanCreated,
  TaskDispatched,
  ResultReady,
  GapDetected,
  CommandIssued,
  TimerFired,
  RunCompleted,
  KnowledgeProposed,
  StepRecorded,
  CallRecorded,
  LetterSettled,
  SettingChanged,
  RunErased,
  DetailRead,
] as const;

export type EventType = (typeof events)[number]['type'];
export type AnyEvent = { [E in (typeof events)[number] as E['type']]: EventOf<E> }[EventType];
export type OpaqueEvent = Event;

const byType: ReadonlyMap<string, EventSpec> = new Map<string, EventSpec>(events.map((spec) => [spec.type, spec]));

export const specOf = (type: string): EventSpec | undefined => byType.get(type);

export * from './plan.js';
export * from './record.js';
export * from './task.js';
