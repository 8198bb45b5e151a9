/**
 * All values, side by side. When one fails the others are awaited before it is thrown: a net whose state has ended leaves nothing behind
 * that still asks, pays and tells.
 */
export async function allSettled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(work);
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}
