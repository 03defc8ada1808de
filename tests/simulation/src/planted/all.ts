import type { PlantedBug } from './planted-bug.js';

export const plantedBugs: readonly PlantedBug[] = [];
