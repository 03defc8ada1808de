import { Failure, type FailureCode } from '@conclave/contracts';

/** The result of the work, or `instead` if it fails with this code: the failure is overlooked. */
export async function overlooking<T>(code: FailureCode, work: () => Promise<T>, instead: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== code) throw error;
    return instead;
  }
}
