import { Failure } from '@conclave/contracts';

/**
 * The failure of a call to the model `ref`, as the client sees that asked for `name`: a model that its server does not have is the mistake of
 * the client if it named the model itself, and otherwise one of the configuration.
 */
export const asNamed = (failure: Failure, ref: string, name: string): Failure =>
  failure.code === 'PROVIDER_MODEL_UNKNOWN' && ref === name ? new Failure('MODEL_NOT_FOUND', failure.detail, failure.options) : failure;
