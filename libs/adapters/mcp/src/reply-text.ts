import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { boundedText, longestToolContent, oneLine, type ToolReply } from '@conclave/ports';

/** A result as text and value, both bounded. */
export function replyOf(result: CallToolResult): ToolReply {
  const json = result.structuredContent === undefined ? null : jsonOf(result.structuredContent);
  const text = result.content.map(textOf).join('\n');
  return {
    // A server that gives structure alone has said everything in it.
    content: boundedText(text.trim() === '' && json !== null ? json : text),
    structured: json !== null && json.length <= longestToolContent ? result.structuredContent : null,
    isError: result.isError === true,
  };
}

function textOf(block: CallToolResult['content'][number]): string {
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

/** Null for what is nested too deeply to be written. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
