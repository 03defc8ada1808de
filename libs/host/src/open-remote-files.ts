import type * as documents from '@conclave/adapter-documents';

/** Files that a request names by their addresses. */
export async function openRemoteFiles(
  ...options: Parameters<typeof documents.openRemoteFiles>
): Promise<ReturnType<typeof documents.openRemoteFiles>> {
  return (await import('@conclave/adapter-documents')).openRemoteFiles(...options);
}
