/** What is left to do should this process end now, in the order it came up. One listener does it all, however much there is. */
const duties = new Set<() => void>();

/**
 * Has something done when this process ends, also when it ends at once; only what is synchronous gets done. The last that came is done
 * first, so that what uses a folder is gone before the folder is. The returned function takes it back.
 */
export function atExit(duty: () => void): () => void {
  if (duties.size === 0) process.on("exit", doAll);
  duties.add(duty);
  return () => {
    duties.delete(duty);
    if (duties.size === 0) process.removeListener("exit", doAll);
  };
}

function doAll(): void {
  for (const duty of [...duties].reverse()) duty();
}
