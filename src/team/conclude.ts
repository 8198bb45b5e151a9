import { MovedError } from "../kernel/errors.ts";
import type { Environment } from "../runtime/environment.ts";
import type { RunEnd } from "../runtime/run-result.ts";
import type { ResumeOptions } from "./team-options.ts";

/** Does what a run needs done before its owner gives it up. @param error the reason why the run ends; undefined for a run that finished */
export type Conclude = (error: unknown) => Promise<void>;

/** Does work that concludes a run. Where it fails before that, the run is concluded with its error. */
export async function concluding<T>(given: ResumeOptions["conclude"], work: (conclude: Conclude | undefined) => Promise<T>): Promise<T> {
  let isConcluded = given === undefined;
  const conclude: Conclude = async (error) => {
    isConcluded = true;
    await given?.({ error });
  };
  try {
    return await work(given && conclude);
  } catch (error) {
    if (!isConcluded) await conclude(error);
    throw error;
  }
}

/** Concludes a run when all that it has recorded is durable, or cannot become so. */
export async function concluded(conclude: Conclude, environment: Environment, { failure, control }: RunEnd): Promise<void> {
  const broken = await environment.log.durable().catch((error: unknown) => error);
  const moved = [broken, control].find((error) => error instanceof MovedError);
  await conclude(moved ?? failure?.error ?? broken ?? control);
}
