import { PlanRequested } from '@conclave/contracts';

/** Without `tolerant-reading` this process refuses requests with fields that it does not know, also those of its own version. */
export function refuseUnknownFields(): void {
  const strict = PlanRequested.schema.strict();
  const { schema } = PlanRequested;
  schema.safeParse = ((data) => strict.safeParse(data)) as typeof schema.safeParse;
}
