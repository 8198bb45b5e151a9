import type { Child } from "../cli/child.ts";

/** Kills of a worker, of which the last one is of the process that starts it again, too: it gives up after ten deaths in a row. */
const KILLS_OF_ONE = 5;
/** Milliseconds in which what a worker has logged arrives. */
const ARRIVAL = 50;

/** A worker and the process that starts it again. */
export class Member {
  #child: Child;
  #kills = 0;
  readonly #begin: () => Child;

  constructor(begin: () => Child) {
    this.#begin = begin;
    this.#child = begin();
  }

  /** The process that works now; undefined while there is none that anybody knows of. */
  get pid(): number | undefined {
    const pids = [...this.#child.said.stdout.matchAll(/"pid":(\d+)/g)];
    return pids.length === 0 ? undefined : Number(pids.at(-1)?.[1]);
  }

  get log(): string {
    return this.#child.said.stderr;
  }

  /** The log of the process that works now. */
  get freshLog(): string {
    return this.log.slice(Math.max(0, this.log.lastIndexOf("The worker died, and is started again")));
  }

  /**
   * Kills the worker, and each fifth time also the process that starts it again; another one is started then.
   *
   * @param isSpared asked with the log of the worker, which stands still meanwhile
   * @returns whether a worker was killed
   */
  async kill(isSpared: (log: string) => Promise<boolean> = async () => false): Promise<boolean> {
    const { pid } = this;
    if (pid === undefined || !signalled(pid, "SIGSTOP")) return false;
    await new Promise((resolve) => setTimeout(resolve, ARRIVAL));
    if (await isSpared(this.freshLog)) {
      signalled(pid, "SIGCONT");
      return false;
    }
    this.#kills += 1;
    const isWhole = this.#kills % KILLS_OF_ONE === 0;
    if (isWhole) this.#child.process.kill("SIGKILL");
    const isKilled = signalled(pid, "SIGKILL");
    if (isWhole) this.#child = this.#begin();
    return isKilled;
  }

  stop(signal: NodeJS.Signals): Promise<number | string> {
    this.#child.process.kill(signal);
    return this.#child.ended;
  }
}

/** The lines before each end that a worker chose itself, and before each run that was given up: they tell why. */
export function troublesOf(children: readonly Child[]): readonly string[] {
  return children.flatMap(({ said: { stderr } }) => {
    const lines = stderr.split("\n");
    const ends = lines.flatMap((line, at) => (/worker died.*"signal":null|given up/.test(line) ? [at] : []));
    return ends.map((at) => lines.slice(Math.max(0, at - 30), at + 1).join("\n"));
  });
}

function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // It was killed a moment ago, and its successor has not said its id.
    return false;
  }
}
