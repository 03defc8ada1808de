import { Module, type DynamicModule } from '@nestjs/common';
import type { Configuration } from '@conclave/contracts';
import { DeliveryHandler } from './delivery.handler.js';

/** Whether results can be sent anywhere: without a webhook the group `delivery` has nothing to do. */
export const deliversOutside = ({ webhooks }: Pick<Configuration, 'webhooks'>): boolean => Object.keys(webhooks).length > 0;

/** Results of ended runs to webhooks: its own consumer group, `delivery`, in the merger process. */
@Module({})
export class DeliveryModule {
  static register(): DynamicModule {
    return { module: DeliveryModule, controllers: [DeliveryHandler] };
  }
}
