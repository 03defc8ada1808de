import { fileURLToPath } from 'node:url';

/**
 * Path of a script that runs in a separate process. The build copies the assets beside the code, so the same path works in a checkout, in
 * an image without sources and in a bundle; this file is therefore at the root of the sources.
 */
export const script = (name: string): string => fileURLToPath(new URL(`./assets/symbolic/${name}`, import.meta.url));
