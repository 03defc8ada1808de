import { MemoryPages } from './memory-pages.js';
import { describePageReader } from './pages.contract.js';

const base = 'https://pages.example';

describePageReader('MemoryPages', {
  async open(pages) {
    const stored = Object.entries(pages).map(([path, { title, paragraphs }]) => [base + path, { title, text: paragraphs.join('\n\n') }]);
    const reader = new MemoryPages(Object.fromEntries(stored) as Record<string, { title: string; text: string }>);
    return { reader, urlOf: (path) => base + path, dispose: () => reader.close() };
  },
});
