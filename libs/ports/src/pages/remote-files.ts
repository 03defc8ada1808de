/** Files of the public web as they are, for what a client names by its address. Adapter: HTTP, each address checked. */
export interface RemoteFiles {
  /**
   * Bytes behind an http(s) address. Throws PAGE_REFUSED for one that may not be read: whatever its name resolves to, and whatever it
   * redirects to, lies in the public web; PAGE_UNAVAILABLE, PAGE_UNREADABLE, PAGE_TOO_LARGE, CALL_CANCELLED once `signal` aborts.
   */
  read(request: { readonly url: string; readonly maxBytes: number; readonly signal: AbortSignal }): Promise<Uint8Array>;
}
