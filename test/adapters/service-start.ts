import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { freePort } from "../kernel/free-port.ts";

/** Milliseconds that a service may take to start on a busy machine. */
const LIMIT = 60_000;
/** Another process may take the port before the service has it. */
const STARTS = 3;

/** Starts a service at a free port, at most three times. @returns what `start` resolves to */
export async function startAtPort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let nth = 1; ; nth += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (nth === STARTS) throw error;
    }
  }
}

/** Resolves when the service has printed `words`. One that ends or is silent for a minute is killed and rejects with its output. */
export function printed(child: ChildProcess, output: Readable, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT);
    output.setEncoding("utf8").on("data", (chunk: string) => {
      said = `${said}${chunk}`.slice(-4000);
      if (!said.includes(words)) return;
      clearTimeout(limit);
      resolve();
    });
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(limit);
      reject(new Error(`${child.spawnfile} ended before it was ready: ${said}`));
    });
  });
}
