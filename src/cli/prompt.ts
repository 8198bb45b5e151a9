import { createInterface } from "node:readline/promises";
import { abortReason } from "../kernel/abort.ts";
import type { Host } from "./host.ts";
import type { Interruptions } from "./interruptions.ts";

/**
 * Asks for one line on the terminal. Undefined when the input ended without one (Ctrl-D): no question waits for an answer that cannot
 * come. To be called only where {@link canAsk} says so.
 *
 * @throws ControlError when an interruption comes, Ctrl-C at the prompt included
 */
export async function promptLine(
  host: Host,
  interruptions: Interruptions,
  question: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const stop = signal === undefined ? interruptions.signal : AbortSignal.any([interruptions.signal, signal]);
  if (stop.aborted) throw abortReason(stop);
  const lines = createInterface({ input: host.stdin, output: host.stderr, terminal: true, historySize: 0 });
  // In raw mode Ctrl-C is a key like any other.
  lines.on("SIGINT", () => interruptions.raise("SIGINT"));
  try {
    const answer = await new Promise<string | undefined>((resolve, reject) => {
      lines.on("close", () => resolve(undefined));
      lines.question(question, { signal: stop }).then(resolve, reject);
    });
    if (answer === undefined) host.stderr.write("\n");
    return answer;
  } catch (error) {
    throw stop.aborted ? abortReason(stop) : error;
  } finally {
    lines.close();
  }
}
