export { openSymbolic, type SymbolicOptions } from './open-symbolic.js';
