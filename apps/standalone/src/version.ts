/** Equals the version in package.json, which a bundle does not contain. */
export const version = '0.1.0';
