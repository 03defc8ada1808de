/** A prompt shipped with the product. An operator may replace its text while the system runs. */
export interface ShippedPrompt {
  readonly name: string;
  /** Raised with each change of the text. */
  readonly version: number;
  /** Names in braces that are filled in; a text with any other name is refused. */
  readonly placeholders: readonly string[];
  /** Placeholders that the prompt must contain. */
  readonly needed: readonly string[];
  readonly text: string;
}
