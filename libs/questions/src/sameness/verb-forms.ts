import words from '../assets/verb-forms.json' with { type: 'json' };
/** Forms of irregular verbs that no stem joins; one verb a line of the list. */
export const verbForms: readonly string[] = words.verbForms;
