import type * as documents from '@conclave/adapter-documents';

/** Reader for files that a request names by address. */
export async function openRemoteFiles(
  ...options: Parameters<typeof documents.openRemoteFiles>
): Promise<ReturnType<typeof documents.openRemoteFiles>> {
  return (await import('@conclave/adapter-documents')).openRemoteFiles(...options);
}
