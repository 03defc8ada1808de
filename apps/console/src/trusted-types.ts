/**
 * The page's policy requires Trusted Types, so a plain text never becomes a script or HTML. Only the address of a bundled worker passes; it
 * stands under /assets/ of this origin. There is no way to make HTML from text at all.
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
