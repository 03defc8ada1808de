/**
 * Estimated tokens of a text before a server has counted them: four ASCII characters or one other character per token, rounded up. Up to
 * 15 % too high for English prose with the usual byte-pair vocabularies, and more for other alphabets, so that budgets are not exceeded.
 */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 128) ascii += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && at + 1 < text.length && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      pairs += 1;
      at += 1;
    }
  }
  const other = text.length - ascii - pairs;
  return Math.ceil(ascii / 4) + other;
}

/** Tokens of role and separators per message. */
const perMessage = 4;

/**
 * Tokens of one image of any size: servers count 85 + 170 per tile of 512 pixels, at most 8 tiles (OpenAI, high detail: 1,445), or one per
 * 750 pixels, at most 1,600 (Anthropic). This is the highest of these, so that budgets are not exceeded.
 */
export const imageTokens = 1_600;

/** A message with the parts that cost tokens. */
interface Counted {
  readonly content: string;
  readonly attached?: readonly ({ readonly kind: 'image' } | { readonly kind: 'file'; readonly tokens: number })[];
  readonly parts?: readonly { readonly type: string }[];
}

const besideText = ({ attached = [], parts = [] }: Counted): number =>
  attached.reduce((sum, one) => sum + (one.kind === 'image' ? imageTokens : one.tokens), 0) +
  parts.filter(({ type }) => type !== 'text').length * imageTokens;

export const estimatePrompt = (messages: readonly Counted[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message.content) + besideText(message) + perMessage, 0);
