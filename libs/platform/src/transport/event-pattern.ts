import { EventPattern as nestEventPattern } from '@nestjs/microservices';
import type { EventType } from '@conclave/contracts';

/**
 * Nest's `@EventPattern` for the events there are: an undeclared name does not compile, and the handler may take its
 * context as a `DeliveryContext` (Nest's own type allows only `unknown` there).
 */
export const EventPattern = (pattern: EventType | `dead:${EventType}`): MethodDecorator => nestEventPattern<string>(pattern);
