export function probeKafka(port: number): Promise<number>;
export function probeRedis(port: number): Promise<true>;
export function probeNeo4j(port: number): Promise<string>;
export function probeHttp(port: number, path: string): Promise<string>;
export function waitUntilAnswers<T>(
  probe: () => Promise<T>,
  options: { readonly withinMs: number; readonly ended?: Promise<string>; readonly everyMs?: number },
): Promise<T>;
export function isPortFree(port: number): Promise<boolean>;
export function freePorts(count: number): Promise<number[]>;
