/** A question of a load: it contains what the fake committee needs to answer it. */
export const questionPattern = /Load question [\w-]+(?: in two rounds)?(?: about [^?\n]+)?\?/;

/** The composer's answer to a question: known to the clients, so that they notice a wrong, cut or mixed-up answer. */
export const rightAnswer = (question: string): string => `The committee has settled it: ${question.replace('?', '')}, that is all.`;
