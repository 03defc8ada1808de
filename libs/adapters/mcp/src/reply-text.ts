import { ContentBlockSchema, type ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { Failure } from '@conclave/contracts';
import { boundedText, longestToolContent, oneLine, type ToolReply } from '@conclave/ports';
import * as z from 'zod';

/** Blocks are parsed one by one: checking all at once would spend time and memory on every invalid block. */
export const CallResult = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});

/** Most blocks read of one result. */
const mostBlocks = 500;

/** A result as text and value, both bounded. Throws TOOL_FAILED for invalid content. */
export function replyOf(result: z.infer<typeof CallResult>): ToolReply {
  const json = result.structuredContent === undefined ? null : jsonOf(result.structuredContent);
  const blocks = result.content.slice(0, mostBlocks).map((block) => {
    const { data } = ContentBlockSchema.safeParse(block);
    if (!data) throw new Failure('TOOL_FAILED', 'Its server sent a result that does not follow the protocol.');
    return textOf(data);
  });
  const more = result.content.length - blocks.length;
  const text = [...blocks, ...(more > 0 ? [`[${more} more parts are left out.]`] : [])].join('\n');
  return {
    // For a server that returns only a structure, its JSON is the text.
    content: boundedText(text.trim() === '' && json !== null ? json : text),
    structured: json !== null && json.length <= longestToolContent ? result.structuredContent : null,
    isError: result.isError === true,
  };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[${oneLine(block.resource.uri, 200)}, ${bytes(block.resource.blob)}]`;
    case 'resource_link':
      return `[${oneLine(block.title ?? block.name, 100)}: ${oneLine(block.uri, 200)}]`;
    case 'image':
    case 'audio':
      return `[${block.type}, ${oneLine(block.mimeType, 60)}, ${bytes(block.data)}]`;
  }
}

const bytes = (base64: string): string => `${Math.floor((base64.length * 3) / 4)} bytes`;

/** Null for a value nested too deeply to be serialized. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
