import module from 'node:module';

// What is imported after this is compiled once for all starts, where Node can keep it.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
const { start } = await import('./start.js');
await start(import.meta.url);
