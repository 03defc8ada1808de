import {
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { warmUpSoon } from '@conclave/platform';
import { EVENT_LOG, MODELS, RUN_STREAM, STATE } from '@conclave/ports';
import { AccountsController } from './accounts/accounts.controller.js';
import { Accounts } from './accounts/accounts.js';
import { RunsOfKeys } from './accounts/runs-of-keys.js';
import { IssuedKeys } from './accounts/issued-keys.js';
import { Reservations } from './accounts/reservations.js';
import { UsageController } from './accounts/usage.controller.js';
import { DeadLettersController } from './admin/dead-letters.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { DetailReads } from './audit/detail-reads.js';
import { AnswerCache } from './answers/answer-cache.js';
import { CacheCounts } from './answers/cache-counts.js';
import { CachesController } from './answers/caches.controller.js';
import { KeptSchema } from './answers/kept-schema.js';
import { Attachments } from './attachments/attachments.js';
import { RemoteImages } from './attachments/remote-images.js';
import { AskedQuestions } from './chat/asked-questions.js';
import { ChatController } from './chat/chat.controller.js';
import { ChatRuns } from './chat/chat-runs.js';
import { ClientTools } from './chat/client-tools.js';
import { CallRecords } from './chat/call-records.js';
import { DirectCalls } from './chat/direct-calls.js';
import { PendingQuestions } from './chat/pending-questions.js';
import { RunResponses } from './chat/run-responses.js';
import { ToolResults } from './chat/tool-results.js';
import { CollectionsController } from './collections/collections.controller.js';
import { CompletionsController } from './completions/completions.controller.js';
import { ConsoleController } from './console/console.controller.js';
import { ConsoleFiles } from './console/console-files.js';
import { DocumentRecords } from './collections/document-records.js';
import { Documents } from './collections/documents.js';
import { TenantCollections } from './collections/tenant-collections.js';
import { UploadQuota } from './collections/upload-quota.js';
import { EmbeddingCalls } from './embeddings/embedding-calls.js';
import { EmbeddingsController } from './embeddings/embeddings.controller.js';
import { FeedbackController } from './feedback/feedback.controller.js';
import { Callers } from './http/caller.js';
import { FailureFilter } from './http/failure-response.js';
import { GraphController } from './knowledge/graph.controller.js';
import { InsightsController } from './knowledge/insights.controller.js';
import { QuarantineController } from './knowledge/quarantine.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { ModelChoices } from './models/model-choices.js';
import { ModelDirectory } from './models/model-directory.js';
import { ModelsController } from './models/models.controller.js';
import { Health } from './operations/health.js';
import { OperationsController } from './operations/operations.controller.js';
import { Providers } from './operators/providers.js';
import { ProvidersController } from './operators/providers.controller.js';
import { ServicesController } from './operators/services.controller.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayOptions, limitsOf } from './options.js';
import { Prompts } from './prompts/prompts.js';
import { PromptsController } from './prompts/prompts.controller.js';
import { ResponseStreams } from './responses/response-streams.js';
import { ItemReferences } from './responses/item-references.js';
import { ResponseViews } from './responses/response-views.js';
import { ResponsesController } from './responses/responses.controller.js';
import { StoredResponses } from './responses/stored-responses.js';
import { Acceptance } from './runs/acceptance.js';
import { Commands } from './runs/commands.js';
import { DeliveryTargets } from './runs/delivery-targets.js';
import { Erasure } from './runs/erasure.js';
import { ForkLinks } from './runs/fork-links.js';
import { Forks } from './runs/forks.js';
import { QueueWaits } from './runs/queue-waits.js';
import { RunDirectory } from './runs/run-directory.js';
import { RunEvents } from './runs/run-events.js';
import { RecordsController } from './runs/records.controller.js';
import { RunRecords } from './runs/run-records.js';
import { EventsController } from './runs/events.controller.js';
import { RunsController } from './runs/runs.controller.js';
import { SessionController } from './sessions/session.controller.js';
import { Sessions } from './sessions/sessions.js';
import { TemplateOptions } from './settings/template-options.js';
import { TemplatesController } from './settings/templates.controller.js';
import { SettingChanges } from './settings/setting-changes.js';
import { Skills } from './skills/skills.js';
import { SkillsController } from './skills/skills.controller.js';
import { Connections } from './stream/connections.js';
import { EventStreams } from './stream/event-streams.js';
import { StreamHub } from './stream/stream-hub.js';

/** HTTP in, events out, the run stream back. */
@Module({})
export class GatewayModule implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private coolDown: () => void = () => undefined;

  constructor(
    @Inject(Connections) private readonly connections: Connections,
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
  ) {}

  static register(options: GatewayOptions): DynamicModule {
    return {
      module: GatewayModule,
      controllers: [
        ChatController,
        CompletionsController,
        EmbeddingsController,
        MessagesController,
        ResponsesController,
        ModelsController,
        RunsController,
        EventsController,
        RecordsController,
        OperationsController,
        ConsoleController,
        DeadLettersController,
        FeedbackController,
        CollectionsController,
        PromptsController,
        TemplatesController,
        SkillsController,
        InsightsController,
        QuarantineController,
        AccountsController,
        UsageController,
        SessionController,
        GraphController,
        ProvidersController,
        CachesController,
        ServicesController,
        AuditController,
      ],
      providers: [
        { provide: GATEWAY_OPTIONS, useValue: options },
        { provide: GATEWAY_LIMITS, useValue: limitsOf(options) },
        { provide: EVENT_LOG, useValue: options.log },
        { provide: STATE, useValue: options.state },
        { provide: RUN_STREAM, useValue: options.stream },
        { provide: MODELS, useValue: options.models },
        Acceptance,
        Accounts,
        IssuedKeys,
        AnswerCache,
        CacheCounts,
        Providers,
        AskedQuestions,
        Attachments,
        CallRecords,
        Callers,
        ChatRuns,
        Commands,
        Connections,
        ConsoleFiles,
        ClientTools,
        DirectCalls,
        DocumentRecords,
        Documents,
        EmbeddingCalls,
        FailureFilter,
        DeliveryTargets,
        DetailReads,
        RunRecords,
        Erasure,
        ForkLinks,
        Forks,
        Health,
        KeptSchema,
        ModelChoices,
        ModelDirectory,
        PendingQuestions,
        Prompts,
        TemplateOptions,
        QueueWaits,
        RemoteImages,
        Reservations,
        RunsOfKeys,
        RunDirectory,
        RunEvents,
        ResponseStreams,
        ItemReferences,
        ResponseViews,
        RunResponses,
        StoredResponses,
        Sessions,
        SettingChanges,
        Skills,
        StreamHub,
        EventStreams,
        TenantCollections,
        ToolResults,
        UploadQuota,
      ],
      exports: [Connections, Health],
    };
  }

  /** Warms up the semantic cache, so that the first question is compared as fast as later ones. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.options.vectors && this.options.embedder)
      this.coolDown = warmUpSoon((await import('@conclave/questions/sameness')).samenessWarmUp);
  }

  /** Runs before the server stops listening, so that streams get their last events on open connections. */
  async onModuleDestroy(): Promise<void> {
    this.coolDown();
    await this.connections.shutdown();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.hub.close();
    await this.options.providers.close();
  }
}
