import type { Environment, EnvironmentOptions } from "../../../src/index.ts";

/**
 * Runs a world in all orders of activation: one role with mail acts at a time, and takes all of it. Messages arrive when their sender has acted.
 *
 * @returns what `result` returns for each order
 */
export async function allActivations<T>(
  make: (given: EnvironmentOptions) => Environment,
  result: (world: Environment) => T,
): Promise<readonly T[]> {
  const results: T[] = [];
  const path: { took: number; of: number }[] = [];
  for (;;) {
    let depth = 0;
    const select = ({ ready }: { readonly ready: readonly unknown[] }): readonly number[] => {
      const choice = path[depth] ?? { took: 0, of: ready.length };
      path[depth] = choice;
      depth += 1;
      return [choice.took];
    };
    const world = make({ seed: 1, scheduler: { name: "in-all-orders", delivers: "turn", turns: "serial", select } });
    await world.run();
    results.push(result(world));
    while (path.length > 0 && (path.at(-1)?.took ?? 0) + 1 >= (path.at(-1)?.of ?? 0)) path.pop();
    const last = path.at(-1);
    if (last === undefined) return results;
    last.took += 1;
  }
}
