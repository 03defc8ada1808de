/** Characters at the beginning of a prompt in which an application says what it wants. */
const opening = { ofText: 500, sentences: 3 } as const;

const chat = 'conversations?|chats?|dialog(?:ue)?s?|threads?|sessions?|discussions?|exchange|chat history|transcript';
const request =
  "(?:user(?:'s|’s)?|first|following|previous|initial|opening) (?:user )?(?:message|request|query|prompt|question|input)s?|messages?";
/** Words after the conversation that go on about the title. In "the chat app" and "the conversation between Romeo and Juliet" it is something else. */
const after =
  '(?=\\s*(?:[.,:;!?"\'()\\n\\]{<]|$|(?:that|which|without|within|in|into|using|so|below|above|and|based|given|later|history|a user|title|names?|between (?:an? |the )?(?:user|human|ai|assistant))\\b|an? (?:[\\w,-]+ ){0,4}(?:title|name)\\b))';
const subject = new RegExp(
  `\\b(?:(?:an?|the|this|our|their|each|new|above|following|of|user(?:'s|’s)?) (?:(?:user(?:'s|’s)?|current|new|whole|entire|coding|agent|following|above) )?(?:${chat}|${request})${after}|(?:chat|conversation|thread|session|message) (?:title|name)s?\\b|what the user\\b)`,
  'iu',
);
const title = /\btitles?\b|\bgive (?:this|the) (?:conversation|chat|thread) an? (?:[\w,-]+ ){0,3}name\b/iu;
const verb =
  /\b(?:generat(?:e|es|ing|ion)|writ(?:e|es|ing)|creat(?:e|es|ing)|give|provide|suggest|summari[sz](?:e|es|ing)|produce|output|reply|return|respond|find|craft|come up|make|propose|choose)\b/iu;
/** An instruction that is not about the whole request: "At the start of each chat, ...". */
const aside =
  /^\W*(?:at|when|whenever|if|after|before|once|then|also|finally|every|each|always|in|on|start|begin|end|do not|don't|never)\b/iu;
/** What only an application says: how long the title may be, and that nothing else is wanted. */
const limited =
  /\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten)\s*(?:(?:-|–|to|or)\s*(?:\d+|\w+))?[\s-]*(?:max(?:imum)?\s+)?(?:words?|characters?|chars)\b|\bonly\b|\b(?:short|concise|brief|crisp)\b|\bnothing else\b|\bwithout (?:any )?(?:punctuation|quot)/iu;

/**
 * Whether a prompt asks for the title of a chat, as front ends and agents do for their own lists; recognised by what such a prompt has
 * to say: that a title is wanted, of a conversation or its first message, and how short. English only.
 */
export function asksForTitle(text: string): boolean {
  const begins = behindChat(text.trim()).slice(0, opening.ofText);
  if (!limited.test(begins)) return false;
  const sentences = begins.split(/(?<=[.!?:])\s+|\n+/u).slice(0, opening.sentences);
  return verb.test(sentences.join(' ')) && sentences.some(isAboutChat);
}

/** A line that sets a part of a prompt off from the rest. */
const rule = /\n[^\S\n]*([-=*_]{3,})[^\S\n]*(?=\n)/g;

/** What follows a chat with which a prompt begins: announced by one line, and between two equal rules. */
function behindChat(text: string): string {
  const [first, ...others] = text.matchAll(rule);
  const head = text.slice(0, first?.index ?? 0).trim();
  const last = others.at(-1);
  if (first === undefined || last === undefined || last[1] !== first[1] || head.includes('\n') || !head.endsWith(':')) return text;
  return text.slice(last.index + last[0].length).trimStart();
}

function isAboutChat(sentence: string): boolean {
  const own = sentence.replace(/"[^"]*"|“[^”]*”/gu, '');
  return title.test(own) && !aside.test(own) && !own.trimEnd().endsWith('?') && subject.test(own);
}
