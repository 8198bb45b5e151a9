import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentHash } from "../../src/kernel/json.ts";
import { openaiStub } from "../../src/testing/openai-stub.ts";

/** The report of one process on its run before it ends by itself. */
export interface Told {
  readonly status: string;
  readonly error?: string;
  /** Micro-dollars. */
  readonly cost: number;
  readonly uncertain: number;
  /** Calls that were in flight when a process died, as the run tells them. */
  readonly inFlight: number;
  readonly messages: readonly string[];
  readonly answered: number;
  readonly canonical: string;
}

/** The moment at which a process dies: after so many durable writes of its own, or during the nth call of the model. */
export type Death = { readonly write: number } | { readonly call: number };

/** The outcome of a run that was killed as planned, and then left alone. */
export interface Survived {
  readonly told: Told;
  /** The number of processes that were really killed. */
  readonly deaths: number;
  /** The number of calls of the model, by prompt. */
  readonly calls: ReadonlyMap<string, number>;
  readonly files: Readonly<Record<string, string>>;
  /** Micro-dollars of all that the model was asked, with the calls whose answers were lost. */
  readonly billed: number;
}

/** Every call costs as much: $1 and $2 for a million tokens in and out. */
const USAGE = { prompt_tokens: 100, completion_tokens: 50 };
const BILL = 200;

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url));

/** Lets processes run one run after each other, each with its death, and a last one that lives. */
export async function survive(scratch: string, scheduler: "rounds" | "eager", deaths: readonly Death[]): Promise<Survived> {
  const folder = mkdtempSync(join(scratch, "kill-"));
  const notes = join(folder, "notes");
  mkdirSync(notes);
  const calls = new Map<string, number>();
  let atCall: ((n: number) => void) | undefined;
  let [asked, billed] = [0, 0];
  await using stub = await openaiStub({
    handler: (body) => {
      const question = contentHash(body.messages);
      calls.set(question, (calls.get(question) ?? 0) + 1);
      asked += 1;
      atCall?.(asked);
      billed += BILL;
      return { text: `answer ${question.slice(0, 8)}`, usage: USAGE };
    },
  });
  const common = { store: join(folder, "runs.db"), notes, url: stub.url, scheduler };
  let killed = 0;
  for (const death of deaths) {
    asked = 0;
    const child = start("write" in death ? { ...common, killAt: death.write } : common);
    atCall = "call" in death ? (n) => void (n === death.call && child.kill()) : undefined;
    if ((await child.ended).signal === "SIGKILL") killed += 1;
  }
  atCall = undefined;
  const { stdout, stderr } = await start(common).ended;
  if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
  const files = Object.fromEntries(readdirSync(notes).map((name) => [name, readFileSync(join(notes, name), "utf8")]));
  return { told: JSON.parse(stdout) as Told, deaths: killed, calls, files, billed };
}

/** The end of a process, and its output. */
export interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a process of a run, with what it is told as JSON. */
export function start(told: object, program: string = CHILD): { readonly ended: Promise<Ended>; kill: () => void } {
  const child = spawn(process.execPath, [program, JSON.stringify(told)], { stdio: ["ignore", "pipe", "pipe"] });
  const out = { stdout: "", stderr: "" };
  child.stdout.on("data", (data: Buffer) => (out.stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (out.stderr += data.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (_code, signal) => resolve({ ...out, signal }));
  });
  return { ended, kill: () => void child.kill("SIGKILL") };
}

/** Calls that were made more often than in another run. */
export function repeated(calls: Survived["calls"], whole: Survived["calls"]): number {
  return [...calls].reduce((sum, [question, count]) => sum + count - (whole.get(question) ?? 0), 0);
}
