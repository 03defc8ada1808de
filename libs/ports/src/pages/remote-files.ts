/** Raw files of the public web that a client names by address. Adapter: HTTP, which checks each address. */
export interface RemoteFiles {
  /**
   * Bytes at an http(s) address. Throws PAGE_REFUSED unless every address that its name resolves to, or that it redirects to, is in the
   * public web; PAGE_UNAVAILABLE, PAGE_UNREADABLE, PAGE_TOO_LARGE, CALL_CANCELLED once `signal` aborts.
   */
  read(request: { readonly url: string; readonly maxBytes: number; readonly signal: AbortSignal }): Promise<Uint8Array>;
}
