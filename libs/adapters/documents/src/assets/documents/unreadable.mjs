/** Why something could not be read: `unreadable` or `too_large`, with a sentence for people. */
export class Unreadable extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}
