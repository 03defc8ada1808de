import { Failure } from '@conclave/contracts';
import type { Engine } from './engine.js';
export interface ComputeEngineOptions {
  readonly memoryMb: number;
  readonly seconds: number;
  readonly processes: number;
  readonly onReplaced: (how: string) => void;
}
export async function startComputeEngine(_o: ComputeEngineOptions): Promise<Engine> {
  throw new Failure('MATH_UNAVAILABLE');
}
