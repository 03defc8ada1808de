/** The kind of a model, judged by its name: most servers report nothing else. */
export function kindByName(model: string): 'chat' | 'embedding' | 'other' {
  const name = model.toLowerCase();
  if (/rerank/.test(name)) return 'other';
  if (embeddings.some((pattern) => pattern.test(name))) return 'embedding';
  return others.some((pattern) => pattern.test(name)) ? 'other' : 'chat';
}

const embeddings = [
  /embed/, // text-embedding-3-small, nomic-embed-text, mxbai-embed-large, snowflake-arctic-embed
  /(^|[/-])(bge|gte|e5)[-_]/, // BAAI/bge-m3, thenlper/gte-large, intfloat/e5-base
  /minilm|mpnet|sentence-t5|sentence-transformers/,
  /(^|\/)voyage-/,
];

/** Speech, image, moderation and base models of the hosted services, which do not chat. */
const others = [
  /whisper|transcribe|(^|[-/])tts|realtime|(^|-)audio/,
  /dall-e|gpt-image|chatgpt-image|stable-diffusion|sdxl|flux|(^|\/)sora/,
  /moderation|llama-guard|prompt-guard/,
  /^(babbage|davinci|curie|ada)(-|$)|-instruct-0914$|gpt-3\.5-turbo-instruct/,
];
