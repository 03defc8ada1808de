/**
 * The page's policy requires Trusted Types, so plain text never becomes a script or HTML. Only the addresses of bundled workers, under /assets/ of
 * this origin, are allowed. There is no way to make HTML from text at all.
 */
if (typeof trustedTypes !== 'undefined')
  trustedTypes.createPolicy('default', {
    createScriptURL: (url) => {
      const { origin, pathname } = new URL(url, location.href);
      if (origin === location.origin && pathname.startsWith('/assets/')) return url;
      throw new TypeError(`A script may not be loaded from ${url}.`);
    },
  });

export {};
