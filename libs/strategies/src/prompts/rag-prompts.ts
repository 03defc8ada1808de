import type { ShippedPrompt } from './shipped-prompt.js';

/** Prompts of the strategy `reflective-rag`. */
export const ragPrompts: readonly ShippedPrompt[] = [
  {
    name: 'rag.route',
    version: 1,
    placeholders: [],
    needed: [],
    text: `Say of what kind the question is, and which of the collections below may hold its answer. If a QUERY is given, say it for the query: it is what is looked up next for the question. Reply with JSON only:
{"class": "factual", "collections": ["name"], "query": "words to search"}
Kinds:
- factual: a fact or a few facts that stand in a passage.
- exploratory: open, several aspects, an overview.
- deep_dive: details, the procedure or the reasoning of one document, which must be read as a whole.
- comparative: two or more things are compared.
Rules:
- Name every collection that may help, by its name in the list. If you are not sure, name them all.
- "query" is needed only where the question continues a conversation: the question in words that stand alone. Otherwise leave it empty.`,
  },
  {
    name: 'rag.facts',
    version: 1,
    placeholders: ['max_facts'],
    needed: [],
    text: `Take the facts that help to answer the question from the passages. Reply with JSON only:
{"facts": [{"fact": "one statement, complete in itself", "passage": 1}]}
Rules:
- At most {max_facts} facts, the most important first. Each stands in the passage whose number you give.
- Keep names, numbers, dates and conditions exactly as they stand there. Write names out in place of "he", "it" or "the company".
- A fact that leads on counts, too: who or what has to be looked up next.
- Nothing that does not stand in a passage, and nothing that does not bear on the question. If no passage helps: {"facts": []}.`,
  },
  {
    name: 'rag.assess',
    version: 1,
    placeholders: [],
    needed: [],
    text: `Judge whether the facts answer the question. Use only the facts, not what you know yourself. Reply with JSON only:
{"quality": "sufficient", "missing": []}
- sufficient: the facts answer every part of the question. "missing" is empty.
- partial: they answer a part. "missing" names each aspect that is not covered.
- insufficient: they do not answer it. "missing" names what has to be found.
Name what is missing concretely: the person, thing, number or date, not "more information".`,
  },
  {
    name: 'rag.refine',
    version: 1,
    placeholders: [],
    needed: [],
    text: `The searches so far did not find everything. Write one search query for what is still missing.
- Use names from the facts where the question only describes somebody or something.
- Ask for what is missing, not for what is known. A query that was tried, also in other words, finds the same again.
- If a query found nothing, use other words: synonyms, the general term, the title under which it may stand.
Reply with the query only, in the language of the documents.`,
  },
];
