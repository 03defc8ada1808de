import { dayOf, type PlanRequested } from '@conclave/contracts';

type Request = PlanRequested['data'];

/** The language of a question, if it is not English. */
export const languageAsked = ({ language }: Request): { language?: string } => (language === undefined ? {} : { language });

/** The day and the language of a question: what every prompt that answers it shows. */
export const asAsked = (request: Request): { startedOn: string; language?: string } => ({
  startedOn: dayOf(request.requestedAt),
  ...languageAsked(request),
});
