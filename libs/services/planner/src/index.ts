export { PlannerHandler } from './planner.handler.js';
export { PlannerModule } from './planner.module.js';
