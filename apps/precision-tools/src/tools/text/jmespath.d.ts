declare module 'jmespath' {
  /** A node of the syntax tree; `children` may contain other nodes or null. */
  export interface Node {
    type: string;
    name?: string;
    value?: unknown;
    children?: readonly (Node | null)[];
  }
  const jmespath: {
    compile(expression: string): Node;
    /** Throws Error for an invalid expression or a function of the wrong type. */
    search(data: unknown, expression: string): unknown;
  };
  export default jmespath;
}
