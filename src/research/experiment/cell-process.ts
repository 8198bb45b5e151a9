import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { abortReason, onAbort } from "../../kernel/abort.ts";
import type { Clock } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { clauseText, shownText } from "../../kernel/value-text.ts";
import type { HostQuestion, SweepHost } from "./sweep-host.ts";
import type { CellReply, CellRequest } from "./experiment.ts";
import type { FreshUse } from "./cell-use.ts";

const MAX_SAID = 8_000;
const MEGABYTE = 1024 * 1024;
/** Milliseconds that a process may take to load the module, because a busy machine starts it slowly. */
const MAX_START = 60_000;
export const CELL_VARIABLE = "TROUPE_CELL";

export interface CellProcessOptions {
  /** The address of the module that exports the experiment: `file:///home/ada/coins.ts`. */
  readonly module: string;
  readonly name: string;
  readonly plan: string;
  readonly timeLimit: number;
  readonly memory: number;
  readonly node: string;
  /** Called before each start: refuses a module that was changed since the first one. */
  readonly check?: () => Promise<void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly host?: SweepHost;
}

export type ProcessAnswer =
  | { readonly kind: "ended"; readonly reply: CellReply }
  | { readonly kind: "gone"; readonly why: "died" | "late" | "memory"; readonly text: string };

export type WireRequest = Omit<CellRequest, "signal" | "onUse" | "host">;

interface Reply {
  readonly [name: string]: unknown;
}

/**
 * A process that runs cells, one at a time. It owns the child.
 *
 * CellProcess.P1 (`#gone`) each request has an answer, and no signal or limit leaves a child behind. CellProcess.P2 (`CELL_SCRIPT`) the
 * child ends when this process does, also while a cell never returns.
 */
export class CellProcess {
  readonly #options: CellProcessOptions;
  readonly #child: ChildProcess;
  readonly #letGo: () => void;
  readonly #host: ReturnType<SweepHost["connected"]> | undefined;
  #said = "";
  #why: "late" | undefined;
  #end: { readonly why: "died" | "late" | "memory"; readonly text: string } | undefined;
  #reply: Promise<Reply | undefined>;
  #answer: (reply: Reply | undefined) => void = () => undefined;
  #requests = 0;
  #onUse: ((fresh: FreshUse) => void) | undefined;

  private constructor(options: CellProcessOptions) {
    this.#options = options;
    this.#reply = this.#expected();
    this.#host = options.host?.connected();
    const { module, name, memory, node } = options;
    const heap = `--max-old-space-size=${Math.max(16, memory)}`;
    const program = ["--input-type=module", "-e", CELL_SCRIPT, module, name, String(process.pid), String(memory * MEGABYTE)];
    this.#child = spawn(node, [...loaders(process.execArgv), heap, ...program], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, [CELL_VARIABLE]: "1" },
    });
    this.#child.stderr?.on("data", (data: Buffer) => (this.#said = (this.#said + data.toString("utf8")).slice(-MAX_SAID)));
    this.#child.on("message", (reply) => this.#receive(isRecord(reply) ? reply : {}));
    this.#child.once("error", (error) => this.#gone(error.message));
    this.#child.once("close", (code, signal) =>
      this.#gone(signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`),
    );
    this.#letGo = onAbort(options.signal, () => this.kill());
    if (options.signal.aborted) this.kill();
  }

  /**
   * Starts a process, and waits until it has loaded the module. Returns the reason where it ended before.
   *
   * @throws UsageError `EXPERIMENT_UNREADABLE`; `EXPERIMENT_CHANGED`
   * @throws ControlError when the signal aborts
   */
  static async start(options: CellProcessOptions): Promise<CellProcess | string> {
    const made = new CellProcess(options);
    const limit = Math.max(options.timeLimit, MAX_START);
    const reply = await made.#next(limit);
    if (options.signal.aborted) throw abortReason(options.signal);
    if (reply === undefined) {
      const { why, text = "" } = made.#end ?? {};
      return why === "memory" ? `it took more than ${options.memory} megabytes` : why === "late" ? `it took more than ${limit} ms` : text;
    }
    if (reply["ready"] === options.plan) return made;
    made.kill();
    if (typeof reply["ready"] === "string") {
      throw new UsageError(
        "EXPERIMENT_CHANGED",
        `Expected ${shownText(options.module)} to export the same experiment in every process, got another one. Take params from the file alone, not from the clock, chance or the environment.`,
      );
    }
    throw unreadable(options.module, String(reply["unreadable"]), String(reply["code"]));
  }

  /** @param onUse reply what the run takes of models, also of one whose process dies @throws ControlError when the signal aborts */
  async run(request: WireRequest, onUse: (fresh: FreshUse) => void): Promise<ProcessAnswer> {
    this.#requests += 1;
    this.#onUse = onUse;
    this.#said = "";
    const id = this.#requests;
    this.#reply = this.#expected();
    if (this.#child.connected) this.#child.send({ id, request }, () => undefined);
    const reply = await this.#next(this.#options.timeLimit);
    if (this.#options.signal.aborted) throw abortReason(this.#options.signal);
    if (reply === undefined || reply["id"] !== id) return { kind: "gone", why: "died", text: "it said something else", ...this.#end };
    return { kind: "ended", reply: reply["reply"] as CellReply };
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  close(): void {
    this.#letGo();
    if (this.#child.connected) this.#child.disconnect();
  }

  #expected(): Promise<Reply | undefined> {
    return this.#end === undefined ? new Promise((resolve) => (this.#answer = resolve)) : Promise.resolve(undefined);
  }

  async #next(limit: number): Promise<Reply | undefined> {
    const cancel = this.#options.clock.timer(limit, () => {
      this.#why = "late";
      this.kill();
    });
    return this.#reply.finally(cancel);
  }

  #receive(reply: Reply): void {
    if (isRecord(reply["fresh"])) this.#onUse?.(reply["fresh"]);
    else if (isRecord(reply["question"])) void this.#answerFor(reply["nth"], reply["question"] as unknown as HostQuestion);
    else this.#answer(reply);
  }

  async #answerFor(nth: unknown, question: HostQuestion): Promise<void> {
    // A wait ends with the process that waits.
    const answer = await this.#host?.ask(question).catch(() => undefined);
    if (this.#child.connected) this.#child.send({ nth, answer: answer ?? null }, () => undefined);
  }

  #gone(text: string): void {
    this.#letGo();
    this.#host?.end();
    const isFull = this.#said.includes(MEMORY_MARK) || this.#said.includes("heap out of memory");
    const last = lastErrorIn(this.#said);
    const reply = last === undefined ? text : `${text} after ${shownText(last, 300)}`;
    this.#end ??= { why: this.#why ?? (isFull ? "memory" : "died"), text: reply };
    this.#answer(undefined);
  }
}

function lastErrorIn(said: string): string | undefined {
  const [line] = [...said.matchAll(/^(?:Uncaught )?(?:(?:[A-Z]\w*)?Error|FATAL ERROR)\b.*$/gm)].at(-1) ?? [];
  return line === undefined ? undefined : clauseText(line);
}

/** The options of this process by which Node loads modules: a loader of TypeScript must be in the children too. */
function loaders(args: readonly string[]): readonly string[] {
  const withValue = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)$/;
  const kept =
    /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C|--experimental-strip-types|--experimental-transform-types|--no-warnings)(=|$)/;
  return args.filter((arg, index) => kept.test(arg) || (!arg.startsWith("-") && withValue.test(args[index - 1] ?? "")));
}

function unreadable(module: string, text: string, code: string): UsageError {
  const advice =
    code === "ERR_UNKNOWN_FILE_EXTENSION"
      ? ` This Node.js reads no TypeScript: use 22.18 or newer, or install tsx and set NODE_OPTIONS="--import tsx".`
      : "";
  return new UsageError(
    "EXPERIMENT_UNREADABLE",
    `Expected ${shownText(fileURLToPath(module))} to be a module that exports the experiment, but its process says: ${clauseText(shownText(text, 300))}.${advice}`,
  );
}

/**
 * The script of a process, a string for `node -e`: it runs wherever the module's own copy of this package is. A thread ends the process when its
 * parent is gone or its memory is used up, also while a cell never returns to the event loop.
 */
const CELL_SCRIPT: string = String.raw`
import { Worker } from "node:worker_threads";
const [url, name, parent, most] = process.argv.slice(1);
const watch = [
  'const { workerData: { parent, most } } = require("node:worker_threads");',
  'setInterval(() => {',
  '  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");',
  '  if (process.memoryUsage.rss() <= most) return;',
  '  require("node:fs").writeSync(2, "\\nTROUPE_CELL_MEMORY\\n");',
  '  process.kill(process.pid, "SIGKILL");',
  '}, 50);',
].join("\n");
new Worker(watch, { eval: true, execArgv: [], workerData: { parent: Number(parent), most: Number(most) } }).unref();
process.on("disconnect", () => process.exit(0));
const key = Symbol.for("troupe.experiment");
const tell = (message) => new Promise((resolve) => process.send(message, resolve));
try {
  const exported = Object.values(await import(url));
  // A loader of TypeScript may give the exports of a module as its default.
  const values = new Set([...exported, ...exported.flatMap((value) => Object.values(value ?? {}))]);
  const found = [...values].filter((value) => typeof value?.[key] === "function" && value.name === name);
  if (found.length !== 1) throw new Error("it exports " + found.length + " experiments of the name " + JSON.stringify(name) + ", not one");
  const [experiment] = found;
  const signal = new AbortController().signal;
  const waiting = new Map();
  let asked = 0;
  const host = (question) => new Promise((resolve) => {
    asked += 1;
    waiting.set(asked, resolve);
    void tell({ nth: asked, question });
  });
  process.on("message", async ({ id, request, nth, answer }) => {
    if (nth !== undefined) {
      waiting.get(nth)?.(answer);
      waiting.delete(nth);
      return;
    }
    const onUse = (fresh) => void tell({ id, fresh });
    const reply = await experiment[key]({ ...request, signal, onUse, host });
    // An error that the run left to the next tick ends the process before its result counts.
    await new Promise(setImmediate);
    await tell({ id, reply });
  });
  await tell({ ready: JSON.stringify(experiment.plan), node: process.versions.node });
} catch (error) {
  await tell({ unreadable: String(error?.message ?? error), code: String(error?.code ?? "") });
  process.disconnect();
}
`;

const MEMORY_MARK = "TROUPE_CELL_MEMORY";
