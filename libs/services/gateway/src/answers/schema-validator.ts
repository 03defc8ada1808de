/** In a file of its own, which only an answer with a schema imports. */
export { Validator } from '@cfworker/json-schema';
