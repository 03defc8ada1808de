/** Downloads that outlive a stack. */
export const cacheFolder: string;
