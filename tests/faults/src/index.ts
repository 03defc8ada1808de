export { guaranteesPage } from './report/guarantees.js';
