/** Languages that the words of a question are read in. */
export type Language = 'en' | 'de';
