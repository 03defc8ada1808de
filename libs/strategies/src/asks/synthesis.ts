import { promptMarks as marks, Source, type TaskInput } from '@conclave/contracts';
import * as z from 'zod';
import { answerWords } from '../answer-words/languages.js';
import { fitted, type Cut } from '../prompts/fitting.js';
import { asData, bounded, dataRule, languageLine, oneLine, sections, todayLine, type PromptMessage } from '../prompts/quoting.js';
import { answerLabel, answerLength, answersText, factsText, type Overrides } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { citedSources, sourceList, type Citation } from '../replies/citations.js';
import { isJsonAlone } from '../replies/json-reply.js';
import { KnownCitations } from '../replies/known-citations.js';
import { InsightFilter, readInsight } from '../replies/insight.js';
import { QuoteFilter } from '../replies/quoting-marks.js';
import { unsupported, unsupportedNote, type Unsupported } from '../replies/support.js';
import type { Ask, TextFilter } from './ask.js';
import { topicsNote, topicsText } from './sub-topics.js';
import { undoneNote } from './undone.js';
import { unsourcedNote } from '../own-knowledge.js';
import { inputOf, outputOf } from './task-schemas.js';

type Input = Extract<TaskInput, { kind: 'synthesis' }>;

const Written = outputOf('synthesis').extend({ sources: z.array(Source).describe('those that the text cites, by number') });

/** Writes the answer. Any text is valid, so the model is never asked again. */
export const synthesisAsk: Ask<Input, z.infer<typeof Written>> = {
  name: 'synthesis',
  input: inputOf('synthesis'),
  output: Written,
  reAsks: 0,
  call: { parameters: (input) => input.parameters },
  prompt: (input, room) => fitted(input.conversation, room.tokens, (cut) => render(input, cut, room.prompts)),
  read: (said, input) => {
    const answer = new AnswerText(input);
    const text = answer.push(said.text) + answer.end();
    if (text.trim() === '') return { faults: ['The reply is empty.'] };
    const { insight, rejected } = readInsight(answer.block);
    return {
      output: {
        kind: 'synthesis',
        text,
        // What the model only believes is not learned.
        insight: input.unsourced === undefined ? insight : null,
        insightRejected: rejected,
        cutShort: said.cutShort,
        ...(answer.beyond.length > 0 ? { unsupported: [...answer.beyond] } : {}),
        sources: answer.cited.map(({ n, source }) => ({ ...source, n })),
      },
    };
  },
  show: (input) => new AnswerText(input),
};

/** Turns a model's text into the answer: removes the insight block and the marks of quoted data, appends the sources. */
class AnswerText implements TextFilter {
  private readonly insight = new InsightFilter();
  private readonly quotes: QuoteFilter;
  private readonly citations: KnownCitations | null;
  private written = '';
  block: string | null = null;
  cited: readonly Citation[] = [];
  beyond: readonly Unsupported[] = [];

  constructor(private readonly input: Input) {
    const own = [input.question, input.system ?? '', ...input.conversation.map(({ content }) => content)].join('\n');
    this.quotes = new QuoteFilter(own, input.answers.map(answerLabel));
    this.citations = input.onlyKnown && !wantsJson(input) ? new KnownCitations(input.facts.length, own) : null;
  }

  push(text: string): string {
    const shown = this.quotes.push(this.insight.push(text));
    return this.write(this.citations ? this.citations.push(shown) : shown);
  }

  end(): string {
    const { shown, block } = this.insight.end();
    const last = this.quotes.push(shown) + this.quotes.end();
    const rest = this.write(this.citations ? this.citations.push(last) + this.citations.end() : last);
    this.block = block;
    this.cited = citedSources(this.written, this.input.facts);
    // Notes alone are no answer: a model that sent only its thinking has failed.
    if (wantsJson(this.input) || isJsonAlone(this.written) || this.written.trim() === '') return rest;
    this.beyond = unsupported(this.written, this.input.facts, this.input.question);
    const { topics, undone, unsourced, language } = this.input;
    const words = answerWords(language);
    const blankAtEnd = Math.min(2, this.written.length - this.written.trimEnd().length);
    const notes =
      sourceList(this.cited, words) +
      unsupportedNote(this.beyond, words) +
      topicsNote(topics, words) +
      undoneNote(undone, words) +
      unsourcedNote(unsourced, words);
    return rest + notes.slice(blankAtEnd);
  }

  private write(text: string): string {
    this.written += text;
    return text;
  }
}

/** Whether the client requested JSON, which excludes citations and the insight block. */
export const wantsJson = ({ parameters }: Pick<Input, 'parameters'>): boolean =>
  parameters.response_format !== undefined && parameters.response_format['type'] !== 'text';

/** Names of formats, and lines with nothing but a tag or a marker: a program may read the answer. */
const formSigns = /\b(?:JSON|XML|YAML|CSV)\b|^[^\S\n]{0,20}(?:<\/?\w{1,40}>|\[\[ ?#{1,3} ?\w{1,40} ?#{1,3} ?\]\])[^\S\n]{0,20}$/mu;
const namesForm = (words: string): boolean => formSigns.test(words);
const formRule =
  'If the question or the system message of the client prescribes the form of the answer (JSON, tags, labelled fields), a program reads it: write exactly that form, with nothing before or after it, and without numbers in square brackets that cite facts.';

/** Told to cite without a fact, small models invent numbers. */
const citing =
  'Put the number of the fact in square brackets behind each statement that rests on it, like [2]. Never invent a number. Do not write a list of sources.';
const citingNothing = 'There are no facts: cite nothing, and do not write a list of sources.';

const render = (input: Input, cut: Cut, overrides: Overrides): readonly PromptMessage[] => [
  {
    role: 'system',
    content: sections(
      marks.roles.composer,
      promptText(wantsJson(input) ? 'composer.json' : 'composer', overrides, { citing: input.facts.length > 0 ? citing : citingNothing }),
      dataRule,
      todayLine(input.startedOn),
      !wantsJson(input) && namesForm(`${input.question}\n${input.system ?? ''}`) ? formRule : null,
      input.system ? `System message of the client:\n${input.system}` : null,
    ),
  },
  ...cut.conversation,
  {
    role: 'user',
    content: sections(
      `${marks.question} ${input.question}`,
      factsText(input.facts, cut),
      input.answers.length > 0 ? `${marks.expertAnswers}\n${answersText(input.answers, cut)}` : null,
      input.contradictions?.length && !wantsJson(input)
        ? `${marks.contradictions}\n${asData(input.contradictions.map((line) => `- ${bounded(oneLine(line), 700)}`).join('\n'))}\nSay in the answer that they differ, and which of them the facts bear out.`
        : null,
      input.topics ? topicsText(input.topics, overrides, cut) : null,
      input.thinking ? `${marks.thinking}\n${asData(bounded(input.thinking, Math.round(answerLength * cut.scale)))}` : null,
      input.openGap
        ? `${marks.stillOpen} ${bounded(input.openGap.replace(/\s+/g, ' '), 500)} (leave this out if the facts settle it)`
        : null,
      input.failed.length > 0
        ? `${marks.failedTasks}\n${asData(input.failed.map((task) => `- ${task.capability}: ${bounded(task.task, 200)} (${bounded(task.reason, 200)})`).join('\n'))}`
        : null,
      languageLine(input.language, input.question),
    ),
  },
];
