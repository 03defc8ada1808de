/** Its own declarations are read as those of a CommonJS module, whose default export is another one. */
declare module 'temml' {
  const temml: {
    readonly ParseError: new (message: string) => Error;
    /** Tree of MathML nodes. Throws ParseError for invalid TeX. */
    __renderToMathMLTree(tex: string, options: Readonly<Record<string, unknown>>): unknown;
  };
  export default temml;
}
