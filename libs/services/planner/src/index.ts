export { PlannerHandler } from './planner.handler.js';
export { PlannerModule } from './planner.module.js';
export { observationsToSkip, skippedBelow, thompsonOrder, type RandomSource } from './thompson.js';
