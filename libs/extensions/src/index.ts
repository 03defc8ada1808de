export { type Extension, type ExtensionKit, extensionKit } from './extension-kit.js';
export { loadExtensions } from './load-extensions.js';
