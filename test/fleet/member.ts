import type { Child } from "../cli/child.ts";

/** A worker and the process that starts it again. */
export class Member {
  #child: Child;
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

  /** Kills the worker. @param isWhole also the process that starts it again; another one is started then */
  kill(isWhole: boolean): boolean {
    const { pid } = this;
    if (pid === undefined) return false;
    if (isWhole) this.#child.process.kill("SIGKILL");
    const isKilled = killed(pid);
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

function killed(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    // It was killed a moment ago, and its successor has not said its id.
    return false;
  }
}
