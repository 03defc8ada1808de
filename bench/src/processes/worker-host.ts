/** What a worker process offers to the one that started it: name -> work on one JSON value, giving one JSON value. */
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

/** Tells the parent something it did not ask for. */
export const emit = (event: string, value: unknown): void => send({ event, value });

/**
 * Answers the calls of the process that started this one until it says goodbye or dies; `close` then ends whatever is open.
 * Says that it is ready by the event `ready`.
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
