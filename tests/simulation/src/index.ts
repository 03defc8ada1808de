export { simulate, type SimulationOptions, type SimulationResult } from './simulate.js';
