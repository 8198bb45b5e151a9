import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { StepError, type TroupeError } from "../kernel/errors.ts";
import { type Json, parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { missingPackage } from "../adapters/optional-package.ts";
import { driverFolder } from "./sandbox-mounts.ts";

/** The values that a script gets when it begins. Plain JSON. */
export interface ScriptSettings {
  /** The global `args`; undefined where there are none. */
  readonly args: Json | undefined;
  /** Four whole numbers: the state of `Math.random`. */
  readonly seed: readonly number[];
  /** Milliseconds since 1970: the time until the first answer. */
  readonly start: number;
  /** Output tokens of all agents together; null for no bound. */
  readonly total: number | null;
  /** Calls of `agent`. */
  readonly calls: number;
}

/** The answer to one call of `agent`. Plain JSON. */
export interface ScriptAnswer {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly tokens: number;
  readonly value?: Json;
  readonly error?: string;
}

/** The lines of one turn, unchecked: whatever the script made of them. */
export type ScriptLines = readonly Json[];

export interface ScriptLimits {
  /** Bytes of all values of the script. Default 64 MiB. */
  readonly memory?: number;
  /** Jumps backward and calls of functions in one turn. Default 50 million, which is some seconds. */
  readonly jumps?: number;
  /** Milliseconds of one turn, for work inside of the engine that counts no jump. Default 30,000. */
  readonly timeout?: number;
}

const PACKAGE = "quickjs-emscripten";
const VERSION = "^0.32.0";
const MEMORY = 64 * 1024 ** 2;
const JUMPS = 50_000_000;
const TIMEOUT = 30_000;
/** Items of one list that `parallel` and `pipeline` take, as in the form. */
const ITEMS = 4_096;
const LOGS = 2_000;
const THREAD = { maxOldGenerationSizeMb: 256 } as const;

/**
 * Runs a hostile script in QuickJS, in a thread that can be killed. The script has the language, the globals of a workflow and nothing of
 * Node.js; what it does depends on its text, its settings and its answers alone.
 *
 * ScriptThread.T1 (`#turn`) a turn ends, whatever the script does: by its last job, by a bound of the engine, or by the end of the thread.
 * ScriptThread.T2 (`#turn`) one turn at a time, in the order of the answers.
 */
export class ScriptThread {
  readonly #worker: Worker;
  readonly #timeout: number;
  #last: Promise<unknown> = Promise.resolve();
  #end: TroupeError | undefined;

  /** @param body the script as the body of an async function @throws UsageError `PACKAGE_MISSING` */
  constructor(body: string, settings: ScriptSettings, { memory = MEMORY, jumps = JUMPS, timeout = TIMEOUT }: ScriptLimits = {}) {
    this.#timeout = timeout;
    const whole = { ...settings, items: ITEMS, logs: LOGS };
    const workerData = { engine: engineAt(), memory, jumps, body: `begin(async () => {"use strict";${body}\n});`, settings: whole };
    // Nothing of this process reaches the thread: no environment, no arguments, no streams.
    const options = { workerData, env: {}, execArgv: [], argv: [], stdout: true, stderr: true, resourceLimits: THREAD };
    this.#worker = new Worker(join(driverFolder("workspace"), "script-thread.mjs"), options);
    this.#worker.unref();
    this.#worker.on("error", (error) => (this.#end ??= broken(error.message)));
  }

  begin(): Promise<ScriptLines> {
    return this.#turn(undefined);
  }

  answer(answer: ScriptAnswer): Promise<ScriptLines> {
    return this.#turn(JSON.stringify(answer));
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #turn(message: string | undefined): Promise<ScriptLines> {
    const turn = this.#last.then(() => this.#asked(message));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #asked(message: string | undefined): Promise<ScriptLines> {
    if (this.#end !== undefined) throw this.#end;
    const worker = this.#worker;
    const { lines, broken: why } = await new Promise<Turn>((resolve, reject) => {
      const late = setTimeout(() => fail("late"), this.#timeout);
      const ended = (): void => {
        clearTimeout(late);
        worker.off("message", answered).off("error", crashed).off("exit", gone);
      };
      const fail = (reason: string): void => {
        ended();
        reject((this.#end ??= broken(reason)));
        void worker.terminate();
      };
      const answered = (turn: Turn): void => {
        ended();
        resolve(turn);
      };
      const crashed = (error: Error): void => fail(error.message);
      const gone = (): void => fail("its thread ended");
      worker.on("message", answered).on("error", crashed).on("exit", gone);
      worker.postMessage(message);
    });
    if (why !== undefined) throw (this.#end = broken(why));
    return lines.map(parsedJson).filter((line): line is Json => isRecord(line));
  }
}

const BOUNDS: Readonly<Record<string, readonly [did: string, todo: string]>> = {
  loops: ["it computes without end", "Look for a loop whose condition never changes."],
  floods: ["it sends more than 32 MiB at once", "Give agents shorter prompts."],
  late: ["its time is over", "Let it compute less between its agents."],
};

interface Turn {
  readonly lines: readonly string[];
  readonly broken?: string;
}

function engineAt(): string {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve(PACKAGE)).href;
  } catch (cause) {
    throw missingPackage(PACKAGE, VERSION, cause);
  }
}

/** @param why what ended it: a bound of its driver, or words of the engine */
function broken(why: string): TroupeError {
  const [did, todo] = BOUNDS[why] ?? [`it broke off: ${why.slice(0, 300)}`, "Let it keep less, and nest less deeply."];
  const expected = "Expected the script of the workflow to reach its next agent() or its end within its bounds";
  return new StepError("WORKFLOW_LIMIT", `${expected}, but ${did}. ${todo}`);
}
