/** Raw files of the public web that a client names by address. Adapter: HTTP, which checks each address. */
export interface RemoteFiles {
  /**
   * Bytes at an http(s) address. Throws PAGE_REFUSED for a forbidden one: everything to which its name resolves or redirects must be
   * in the public web; PAGE_UNAVAILABLE, PAGE_UNREADABLE, PAGE_TOO_LARGE, CALL_CANCELLED once `signal` aborts.
   */
  read(request: { readonly url: string; readonly maxBytes: number; readonly signal: AbortSignal }): Promise<Uint8Array>;
}
