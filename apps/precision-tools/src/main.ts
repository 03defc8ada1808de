import module from 'node:module';

// Code that is imported after this is compiled once for all starts, if Node can cache it.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
const { start } = await import('./start.js');
await start(import.meta.url);
