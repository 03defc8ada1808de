import { promptMarks as marks } from '@conclave/contracts';

/** A prompt message, the same on every side of a benchmark. */
export interface Message {
  readonly role: string;
  readonly content: string;
}

export type Role = 'planner' | 'expert' | 'assessor' | 'composer' | 'adviser' | 'scorer' | 'thinker' | 'direct';

/** Experts of every plan. */
export const categories = ['general', 'math', 'science', 'reasoning'] as const;
/** Plans of a run: the first one and one re-plan. */
export const rounds = 2;
/** Per round: planner, assessor and each expert once. Plus one composer. */
export const callsPerRun = rounds * (categories.length + 2) + 1;

/** With a second tier, each unsure expert is asked again; the last round adds hints, one more try, scores and the thinking step. */
export const shippedCallsPerRun = rounds * (2 * categories.length + 2) + 5;

export const question = 'How much warmer does a house of stone stay at night than a house of wood, and why?';

/** Marks the prompts of the second round. */
const secondRound = 'Second look:';

const planOf = (second: boolean): string =>
  JSON.stringify({
    tasks: categories.map((category, index) => ({
      id: `x${index + 1}`,
      task: `${second ? `${secondRound} check` : 'Work out'} the ${category} side of how walls of stone and of wood keep warmth over one night`,
      capability: `expert.${category}`,
      needs: [],
    })),
  });

const sentences =
  'A wall stores heat in proportion to its mass and gives it back over hours, so a heavy wall follows the air with a delay. ' +
  'A light wall follows it at once, and what counts for it is how well it insulates. ' +
  'Over one night the heavy wall therefore falls by a third of what the light one does, as long as neither is heated.';

const expertReply = (category: string, second: boolean, confidence: number): string =>
  `${sentences}\nFINDING: ${second ? secondRound : 'First look:'} seen from ${category}, mass delays the loss of warmth and insulation limits it.\nCONFIDENCE: ${confidence}\nGAPS: none\nREFER: none`;

export const answer = `${sentences} ${sentences}`;

const gapReply = (complete: boolean): string =>
  complete
    ? 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none'
    : 'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: the first look was not checked\nNEXT_FOCUS: check the first look';

/** The role of a prompt, by the fixed line of its system message. */
export function roleOf(messages: readonly Message[]): Role {
  const system = messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => content)
    .join('\n');
  if (system.includes(marks.roles.planner)) return 'planner';
  if (system.includes(marks.roles.assessor)) return 'assessor';
  if (system.includes(marks.roles.composer)) return 'composer';
  const judge = (['adviser', 'scorer', 'thinker'] as const).find((role) => system.includes(marks.roles[role]));
  if (judge) return judge;
  return categories.some((category) => system.includes(marks.roles.expert(category))) ? 'expert' : 'direct';
}

/** The second tier is confident except in one category; with hints, every expert is. */
const confidenceOf = (category: string, secondTier: boolean, hinted: boolean): number =>
  hinted || (secondTier && category !== categories[0]) ? 0.9 : 0.6;

/** The model's reply, always the same for the same prompt. Throws for a prompt that no committee writes. */
export function replyTo(messages: readonly Message[], secondTier = false): string {
  const text = messages.map(({ content }) => content).join('\n');
  switch (roleOf(messages)) {
    case 'planner':
      return planOf(text.includes(marks.replan.instructions));
    case 'expert':
      return expertOf(text, secondTier);
    case 'assessor':
      return gapReply(text.includes(secondRound));
    case 'composer':
      return answer;
    case 'adviser':
      return JSON.stringify({ hints: [{ task: shownTask(text), hint: 'Say by how much.' }] });
    case 'scorer':
      return JSON.stringify({ scores: [{ task: shownTask(text), a: 0.5, b: 0.5 }] });
    case 'thinker':
      return sentences;
    case 'direct':
      throw new Error(`The model was asked something that no committee asks: ${text.slice(0, 200)}`);
  }
}

function expertOf(text: string, secondTier: boolean): string {
  const category = categories.find((one) => text.includes(marks.roles.expert(one)))!;
  const confidence = confidenceOf(category, secondTier, text.includes(marks.refinement.hints));
  return expertReply(category, text.includes(`${marks.task} ${secondRound}`), confidence);
}

/** The task that a judge was shown. */
const shownTask = (text: string): string => new RegExp(`${marks.refinement.task} (\\S+)`).exec(text)?.[1] ?? '';
