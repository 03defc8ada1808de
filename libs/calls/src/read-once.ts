import type { MadeReply } from './ask-models.js';

/** Reads a reply once: while it is stored if it was made just now, else when it is returned. */
export class ReadOnce<T> {
  private last: { readonly attempt: number; readonly value: Promise<T> } | null = null;

  constructor(private readonly read: (reply: MadeReply) => T | Promise<T>) {}

  of(reply: MadeReply): Promise<T> {
    if (this.last?.attempt !== reply.attempt) this.last = { attempt: reply.attempt, value: this.begin(reply) };
    return this.last.value;
  }

  private async begin(reply: MadeReply): Promise<T> {
    return this.read(reply);
  }
}
