/** That of package.json, which a bundle does not carry. */
export const version = '0.1.0';
