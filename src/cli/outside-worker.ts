import { AbortedError, UsageError } from "../kernel/errors.ts";
import { formatUsd, usd } from "../model/money.ts";
import { codingAgent, codingVariables } from "../workspace/coding-agent.ts";
import { findProgram } from "../workspace/program-path.ts";
import { canAsk, type Host } from "./host.ts";
import { agrees } from "./prompt.ts";
import { labelledLines, shellWord, shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { CrewSettings } from "./settings.ts";
import { isFile } from "./text-file.ts";
import { resolve } from "node:path";

/** Reserved before each start, and counted where it reports no cost. */
const BUDGET = usd(1);
const SHOWN = 300;
/** Characters of a command, which a person must be able to read. */
const MAX_COMMAND = 2_000;

type WorkerSettings = Pick<Extract<CrewSettings, { kind: "software-company" }>, "worker" | "workerBudget" | "workerEnv">;

export function workerSettings(crew: CrewSettings): WorkerSettings | undefined {
  return crew.kind === "software-company" && crew.worker !== undefined ? crew : undefined;
}

async function readWorker({ env, cwd }: Pick<Host, "env" | "cwd">, { worker = "", workerBudget = BUDGET, workerEnv = "" }: WorkerSettings) {
  // It loads a package.
  const { wordsIn } = await import("../checks/written-check.ts");
  const command = wordsIn(worker);
  if (command === undefined || worker.length > MAX_COMMAND) {
    const expected = `Expected --worker as a program and its arguments, which no shell reads, got "${shown(worker, SHOWN)}"`;
    throw new UsageError("OPTION_INVALID", `${expected}. Leave out what a shell would do, such as $, |, > and ;, or put it into a script.`);
  }
  const names = workerEnv.split(",").map((name) => name.trim());
  const [program = "", ...args] = command;
  // The program runs in another folder.
  const file = program.includes("/") ? resolve(cwd, program) : program;
  return { command: [file, ...args], env: codingVariables(command, env, names), budget: workerBudget };
}

export async function outsideWorker(host: Pick<Host, "env" | "cwd">, settings: WorkerSettings) {
  const { command, env, budget } = await readWorker(host, settings);
  return { agent: codingAgent({ command, env }), budget };
}

/** Asks the person at the terminal before the worker is started. @throws UsageError `WORKER_MISSING`, `WORKER_NOT_ALLOWED` */
export async function allowWorker(session: Session, settings: WorkerSettings, isAllowed: boolean): Promise<void> {
  const { host, screen } = session;
  const { command, env, budget } = await readWorker(host, settings);
  const [program = ""] = command;
  if (!(program.includes("/") ? await isFile(program) : findProgram(program) !== undefined)) {
    const expected = `Expected the worker ${shown(program, SHOWN)} to be a program on the PATH or a file, but it is not there`;
    throw new UsageError("WORKER_MISSING", `${expected}. Install it, or give its path.`);
  }
  if (isAllowed) return;
  const rows: readonly (readonly [string, string])[] = [
    // All of it: what is not shown would be allowed unseen.
    ["Command", shown(command.map(shellWord).join(" "), Infinity)],
    ["Variables", shown(Object.keys(env).sort().join(", "), 2_000)],
    ["Money", `${formatUsd(budget)} is reserved before each start; what it spends and does not report is not seen`],
  ];
  const warning = "The worker runs with your rights, outside the sandbox: it can read and change whatever you can";
  if (!canAsk(host)) {
    throw new UsageError(
      "WORKER_NOT_ALLOWED",
      `Expected a yes to a worker, but no one can be asked here. ${warning}. If you trust it, say --allow-worker.`,
    );
  }
  screen.print([screen.style.strong(`${warning}:`)]);
  screen.print(labelledLines(rows, { style: screen.style, width: screen.width, labels: 10, margin: 2 }));
  if (!(await agrees(session, "Allow it for this run?"))) throw new AbortedError("the worker was not allowed, and nothing was started");
}
