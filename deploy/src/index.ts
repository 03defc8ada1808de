export * from '../stack/index.mjs';
