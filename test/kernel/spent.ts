/** Milliseconds of the processor that some work takes: while others have it, on a busy machine, none pass. */
export async function spentBy(work: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await work();
  return process.cpuUsage(began).user / 1_000;
}
