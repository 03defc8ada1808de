/**
 * What `work` gives, or what `late` gives or throws where that takes longer than `ms` milliseconds. Work that is late goes on, and what
 * becomes of it is nobody's business any more.
 */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))).then(late);
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
