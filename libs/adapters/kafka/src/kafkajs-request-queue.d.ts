declare module 'kafkajs/src/network/requestQueue/index.js' {
  /** The requests of one connection that wait to be sent. */
  export default class RequestQueue {
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
  }
}
