// A stand-in for a model, so that the examples can be watched without one: it plays every role of the six strategies that answer from
// documents. It reads only its prompts, and recognises them by their fixed lines. The roles of the committee are those of the built-in
// demo model; the few rules below play the others.
import { promptMarks as marks } from '../../libs/contracts/src/index.ts';
import { demoReply } from '../../libs/adapters/demo/src/demo-reply.ts';
import { roleOf } from '../../tests/support/src/system/index.ts';

const { data, gapCheck, replan } = marks;

/** The last quoted block under a heading, without its fence; empty if there is none. */
function quotedUnder(prompt, heading) {
  const head = `${heading}\n${data.open}\n`;
  const at = prompt.lastIndexOf(head);
  if (at < 0) return '';
  const from = at + head.length;
  return prompt.slice(from, prompt.indexOf(`\n${data.close}`, from)).trim();
}

/** The rest of the last line that begins with a mark. */
const lineOf = (prompt, mark) =>
  prompt
    .split('\n')
    .findLast((line) => line.startsWith(`${mark} `))
    ?.slice(mark.length + 1)
    .trim() ?? '';

/** The text after `- ` at the beginning of lines. */
const itemsOf = (text) => text.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
const sentencesOf = (text) =>
  text
    .replace(/^#+ .*$/gm, ' ')
    .match(/[^.!?]+[.!?]+/g)
    ?.map((one) => one.replace(/\s+/g, ' ').trim()) ?? [];

/** Names of several words, such as `Northlight Clock Company`. */
const namesIn = (text) => [...new Set(text.match(/\p{Lu}[\p{L}’'-]+(?:\s\p{Lu}[\p{L}’'-]+)+/gu) ?? [])];
const compares = (question) => /\b(?:compare|compared|comparison|difference|versus|vs|older|larger)\b/iu.test(question);

/** Whether passages answer a question, and what must be found next if they do not. */
function assessed(question, passages) {
  const said = demoReply({
    messages: [
      { role: 'system', content: marks.roles.assessor },
      { role: 'user', content: `${gapCheck.question} ${question}\n${gapCheck.answer}\n${passages.join('\n')}` },
    ],
  });
  const isAnswered = said.includes(`${gapCheck.status} ${gapCheck.complete}`);
  return { isAnswered, next: isAnswered ? '' : lineOf(said, gapCheck.nextFocus) || question };
}

/** An untried search for what a question needs first. */
function queryFor(question, next, tried) {
  const plan = demoReply({
    messages: [
      { role: 'system', content: marks.roles.planner },
      {
        role: 'user',
        content: [
          `${marks.question} ${question}`,
          `${marks.capabilities}\n- research: searches\n- expert.general: answers`,
          ...(next === '' ? [] : [`${replan.nextFocus} ${next}`]),
          `${replan.tried}\n${tried.map((query) => `- ${query}`).join('\n')}`,
        ].join('\n'),
      },
    ],
  });
  return JSON.parse(plan).tasks.find(({ search_query }) => search_query)?.search_query ?? (next || question);
}

/** Sentences that bear on one of the names, at most two per passage. If a sentence begins with a pronoun, the title replaces it. */
const bearingOn = (names, { title, text }) =>
  sentencesOf(text)
    .map((sentence) => sentence.replace(/^(?:It|He|She)\b/, title))
    .filter((sentence) => names.some((name) => sentence.includes(name)))
    .slice(0, 2);

/** Passages whose first line is `[n] title`. */
const passagesUnder = (prompt) =>
  quotedUnder(prompt, marks.passages)
    .split(/\n\n(?=\[\d+\] )/)
    .flatMap((block) => {
      const [, n, title, text] = /^\[(\d+)\] (.*)\n([\s\S]*)$/.exec(block) ?? [];
      return n === undefined ? [] : [{ n: Number(n), title, text }];
    });

/** Lines `[n] text — title`. */
const citedLines = (block) =>
  block.split('\n').flatMap((line) => {
    const [, n, text, title] = /^\[(\d+)\] (.*) — (.*)$/.exec(line) ?? [];
    return n === undefined ? [] : [{ n: Number(n), text, title: title.replace(/ <[^<>]*>$/, '') }];
  });

/** The findings of the steps of a run, as numbered passages. */
const broughtBy = (text) =>
  text
    .split(/\n(?=- )/)
    .flatMap((line) => / -> done: ([\s\S]*)$/.exec(line)?.[1] ?? [])
    .map((output, n) => `[${n + 1}] ${output.replace(/\s+/g, ' ')}`);

const json = (value) => JSON.stringify(value);

const roles = {
  // reflective-rag
  router: (prompt) =>
    json({ class: 'factual', collections: itemsOf(prompt.split(marks.collections)[1] ?? '').map((line) => line.split(':')[0]) }),
  reader: (prompt) => {
    const names = namesIn(`${lineOf(prompt, marks.question)} ${lineOf(prompt, marks.query)}`);
    const facts = passagesUnder(prompt).flatMap((passage) =>
      bearingOn([...names, ...names.filter((name) => name === passage.title)], passage).map((fact) => ({ fact, passage: passage.n })),
    );
    return json({ facts: facts.slice(0, 5) });
  },
  evaluator: (prompt) => {
    const facts = quotedUnder(prompt, marks.facts).split('\n');
    const { isAnswered, next } = assessed(lineOf(prompt, marks.question), facts);
    return json(isAnswered ? { quality: 'sufficient', missing: [] } : { quality: 'partial', missing: [next] });
  },
  refiner: (prompt) => {
    const tried = itemsOf(quotedUnder(prompt, marks.tried)).map((line) => line.replace(/ \(in [^()]*\): .*$/, ''));
    return queryFor(lineOf(prompt, marks.question), itemsOf(quotedUnder(prompt, marks.missing))[0] ?? '', tried);
  },

  // reasoning
  reasoner: (prompt) => {
    const question = lineOf(prompt, marks.question);
    const [capability = 'research'] = itemsOf(prompt.split(`${marks.capabilities}\n`)[1] ?? '').map((line) => line.split(':')[0]);
    const found = broughtBy(quotedUnder(prompt, marks.results));
    const first = { capability, input_description: assessed(question, found).next || question, reason: 'The answer needs it.' };
    // A description such as "the founder of the X" must be looked up before the actual question.
    const isNested = found.length === 0 && /\bthe \p{Ll}+ of (?:the )?\p{Lu}/u.test(question);
    const then = { capability, input_description: 'what is asked about whoever was found', reason: 'The first step names it.' };
    return json({ steps: isNested ? [first, then] : [first], working_memory: 'Nothing is known yet.' });
  },
  preparer: (prompt) => {
    const question = lineOf(prompt, marks.question);
    const found = broughtBy(quotedUnder(prompt, marks.results));
    const next = found.length === 0 ? '' : assessed(question, found).next;
    return json({ input: queryFor(question, next, []), working_memory: quotedUnder(prompt, marks.workingMemory) });
  },
  rater: (prompt) => {
    const question = lineOf(prompt, marks.question);
    const memory = quotedUnder(prompt, marks.workingMemory);
    const output = quotedUnder(prompt, marks.output).replace(/\s+/g, ' ');
    const { isAnswered, next } = assessed(question, [`[1] ${memory}`, `[2] ${output}`]);
    const score = isAnswered ? 5 : next === question ? 2 : 4;
    return json({
      ...{ relevance: score, completeness: score, usability: score, goal_progress: score },
      summary: isAnswered ? 'It answers the question.' : `Next: ${next}`,
      working_memory: `${memory} ${output}`.slice(0, 3_000),
    });
  },
  decider: (prompt) => {
    const { isAnswered, next } = assessed(lineOf(prompt, marks.question), [`[1] ${quotedUnder(prompt, marks.workingMemory)}`]);
    return json(
      isAnswered ? { action: 'done', confidence: 0.9, reason: 'It is known.' } : { action: 'adjust', confidence: 0.5, reason: next },
    );
  },
  compressor: (prompt) => json({ working_memory: quotedUnder(prompt, marks.workingMemory) }),

  // decompose
  decomposer: (prompt) => {
    const question = lineOf(prompt, marks.question);
    const names = namesIn(question);
    const topics = (names.length > 0 ? names : [question]).slice(0, 4).map((topic) => ({ topic, query: topic, collections: [] }));
    return json({ topics, synthesis: compares(question) ? 'compare' : 'merge' });
  },
  topicReader: (prompt) => {
    const topic = lineOf(prompt, marks.task);
    const passages = citedLines(quotedUnder(prompt, marks.passages));
    return json({
      facts: passages.flatMap((passage) => bearingOn([topic], passage).map((fact) => ({ fact, source: passage.n }))).slice(0, 5),
    });
  },

  // adaptive
  classifier: (prompt) => json({ class: compares(lineOf(prompt, marks.question)) ? 'comparative' : 'factual' }),

  // The committee, in which the demo model plays no part.
  thinker: (prompt) => `CONCLUSION: ${quotedUnder(prompt, marks.facts).split('\n').length} facts are known.`,
  adviser: () => json({ hints: [] }),
  scorer: () => json({ scores: [] }),
  critic: () => json({ verdict: 'confirmed', reasons: [] }),
};

/** An answer about sub-topics: the facts of each under its name. Null for an answer without sub-topics. */
function bySubTopics(prompt) {
  const topics = itemsOf(quotedUnder(prompt, marks.topics));
  if (topics.length === 0) return null;
  const facts = new Map(citedLines(quotedUnder(prompt, marks.facts)).map(({ n, text }) => [n, text]));
  return topics
    .map((line) => {
      const [, topic = line, numbers = ''] = /^(.*): (?:facts ([\d, ]+)|.*)$/.exec(line) ?? [];
      const known = numbers.split(', ').flatMap((n) => (facts.has(Number(n)) ? [`${facts.get(Number(n))} [${n}]`] : []));
      return `${topic}: ${known.join(' ') || 'nothing was found.'}`;
    })
    .join('\n');
}

/** The reply to a chat request, by the role that its prompt names. */
export function replyTo(request) {
  const role = roleOf(request);
  const prompt = request.messages.map(({ content }) => content).join('\n');
  if (Object.hasOwn(roles, role)) return roles[role](prompt);
  return (role === 'composer' ? bySubTopics(prompt) : null) ?? demoReply(request);
}
