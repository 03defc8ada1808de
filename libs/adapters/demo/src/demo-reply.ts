import { Failure } from '@conclave/contracts';
import type { CallMessage, ModelCall } from '@conclave/ports';
import { demoLabel } from './answering/wording.js';
import { promptText, roleOf } from './prompt-reader.js';
import { questionIn } from './reading/conversation.js';
import { assess } from './roles/assessor.js';
import { compose } from './roles/composer.js';
import { consult } from './roles/expert.js';
import { plan } from './roles/planner.js';
import { utility } from './roles/utility.js';

/**
 * The demo model's whole reply to a prompt. Throws PROVIDER_REFUSED for a direct call that asks for JSON of a schema.
 */
export function demoReply({ messages, responseFormat }: Pick<ModelCall, 'messages' | 'responseFormat'>): string {
  const prompt = promptText(messages);
  switch (roleOf(messages)) {
    case 'planner':
      return plan(prompt, questionIn(prompt, messages));
    case 'expert':
      return consult(prompt, questionIn(prompt, messages));
    case 'assessor':
      return assess(prompt);
    case 'composer':
      return compose(
        prompt,
        questionIn(prompt, messages),
        responseFormat !== undefined && responseFormat['type'] !== 'text' ? responseFormat : null,
      );
    // It finds sentences but extracts nothing from them.
    case 'learner':
      return '[]';
    case 'other':
      if (responseFormat?.['type'] === 'json_schema')
        throw new Failure('PROVIDER_REFUSED', 'The built-in demo model writes JSON in a template only, and one text at most.');
      return utility(prompt.trim()) ?? alone(messages);
  }
}

/** The reply to a direct call without documents. */
const alone = (messages: readonly CallMessage[]): string =>
  messages.length === 0
    ? demoLabel
    : `I am the built-in demo model. I have no knowledge of my own and only quote documents that a search of Conclave found; ask one of its templates, such as conclave. ${demoLabel}`;
