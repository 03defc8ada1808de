export { openDemoModels } from './demo-models.js';
export { sampleCorpusFolder } from './sample-corpus.js';
