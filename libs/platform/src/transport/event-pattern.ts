import { EventPattern as nestEventPattern } from '@nestjs/microservices';
import type { EventType } from '@conclave/contracts';

/**
 * Nest's `@EventPattern` for declared events, one or several: an undeclared name does not compile, and the handler may type its context as
 * `DeliveryContext` (Nest's own type only allows `unknown`).
 */
export const EventPattern = (...patterns: readonly (EventType | `dead:${EventType}` | `erased:${EventType}`)[]): MethodDecorator =>
  nestEventPattern<readonly string[]>(patterns);
