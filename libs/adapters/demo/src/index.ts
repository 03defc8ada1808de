export { openDemoModels } from './demo-models.js';
export { sampleCorpusFolder, sampleQuestion } from './sample-corpus.js';
