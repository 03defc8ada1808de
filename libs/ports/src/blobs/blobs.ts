/** Stores bodies too large for a record by content hash (SHA-256, hex), at least as long as the retention of the topics that name them. */
export interface Blobs {
  put(body: Buffer): Promise<BlobRef>;
  /** Throws Failure BLOB_MISSING, BLOB_CORRUPT. */
  get(ref: BlobRef): Promise<Buffer>;
}
export interface BlobRef {
  readonly sha256: string;
  readonly bytes: number;
}
/** Bodies above this many bytes are sent by reference. */
export const blobThresholdBytes = 64 * 1024;
