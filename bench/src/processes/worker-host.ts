/** Methods a worker offers to its parent, by name: each takes one JSON value and returns one. */
export type Methods = Readonly<Record<string, (input: never) => unknown>>;

export interface WorkerRequest {
  readonly id: number;
  readonly method: string;
  readonly input: unknown;
}
export type WorkerReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: string }
  | { readonly event: string; readonly value: unknown };

const send = (reply: WorkerReply): void => void process.send?.(reply);

/** Sends an event to the parent. */
export const emit = (event: string, value: unknown): void => send({ event, value });

/**
 * Answers calls of the parent process until it disconnects or dies; then runs `close`. Sends the event `ready` when ready.
 */
export function hostMethods(methods: Methods, close: () => Promise<void>): void {
  const end = (): void => {
    process.removeAllListeners('message');
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.once('disconnect', end);
  process.on('message', (request: WorkerRequest) => {
    const method = methods[request.method];
    Promise.resolve()
      .then(() => {
        if (!method) throw new Error(`There is no method "${request.method}".`);
        return method(request.input as never);
      })
      .then(
        (value) => send({ id: request.id, ok: true, value }),
        (error: unknown) =>
          send({ id: request.id, ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  emit('ready', null);
}
