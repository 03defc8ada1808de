/** In a file of its own, which is imported only for an answer with a schema. */
export { Validator } from '@cfworker/json-schema';
