import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentHash } from "../../src/kernel/json.ts";
import { openaiStub } from "../../src/testing/index.ts";
import type { OpenAIBody, StubAnswer } from "../../src/testing/stub-reply.ts";
import { type Death, start, type Told } from "./kills.ts";

/** The moment at which a process of agents dies: as others do, or in its nth call of a tool, before or after its work. */
export type AgentDeath = Death | { readonly tool: number; readonly when: "before" | "after" };

/** The report of a process of agents: also the code of its error. */
export type AgentTold = Omit<Told, "answered"> & { readonly code?: string };

/** A run that stopped because nobody knows whether a tool has run. */
export interface Asked {
  readonly told: AgentTold;
  /** The work that the tools had done before that process began, and by its end. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** The outcome of a run that was killed as planned, and then resumed until it had ended. */
export interface AgentSurvived {
  readonly told: AgentTold;
  readonly deaths: number;
  readonly calls: ReadonlyMap<string, number>;
  readonly done: readonly string[];
  readonly asked: readonly Asked[];
  readonly rejected: number;
}

const CHILD = fileURLToPath(new URL("agent-child.mjs", import.meta.url));
/** A run that does not come to its end in so many processes, after the last that is killed, never will. */
const MOST_LIVES = 5;

/** Lets processes run one run after each other, each with its death, and then as many as it takes. One that ends before its death ends the run. */
export async function surviveAsAgent(scratch: string, deaths: readonly AgentDeath[]): Promise<AgentSurvived> {
  const folder = mkdtempSync(join(scratch, "agent-kill-"));
  const log = join(folder, "tools.log");
  const calls = new Map<string, number>();
  let atCall: ((n: number) => void) | undefined;
  let model = 0;
  await using stub = await openaiStub({
    handler: (body) => {
      const question = contentHash(body.messages);
      calls.set(question, (calls.get(question) ?? 0) + 1);
      model += 1;
      atCall?.(model);
      return answerTo(body);
    },
  });
  const common = { store: join(folder, "runs.db"), log, url: stub.url };
  let killed = 0;
  const asked: Asked[] = [];
  const left: AgentDeath[] = [...deaths];
  for (let life = 0; life < deaths.length + MOST_LIVES; life++) {
    const death = left.shift();
    model = 0;
    const before = linesOf(log);
    const child = start({ ...common, resume: asked.length > 0, ...(death === undefined ? {} : wish(death)) }, CHILD);
    atCall = death !== undefined && "call" in death ? (n) => void (n === death.call && child.kill()) : undefined;
    const { signal, stdout, stderr } = await child.ended;
    if (signal === "SIGKILL") {
      killed += 1;
      continue;
    }
    if (stdout === "") throw new Error(`the process told nothing: ${stderr}`);
    const told = JSON.parse(stdout) as AgentTold;
    if (told.code !== "STEP_UNCERTAIN") return { told, deaths: killed, calls, done: linesOf(log), asked, rejected: stub.rejected.length };
    asked.push({ told, before, after: linesOf(log) });
  }
  throw new Error(`no end after ${deaths.length + MOST_LIVES} processes`);
}

function wish(death: AgentDeath): object {
  if ("write" in death) return { killAt: death.write };
  return "tool" in death ? { dieIn: { call: death.tool, when: death.when } } : {};
}

function linesOf(log: string): readonly string[] {
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").filter(Boolean) : [];
}

/** The reply depends on the conversation alone, so no process needs to know of another. */
function answerTo({ messages }: OpenAIBody): string | StubAnswer {
  const last = messages.at(-1)?.content;
  if (typeof last === "string" && last.startsWith("Tell: ")) return "It is told.";
  const call = (name: string, at: string): { readonly id: string; readonly name: string; readonly arguments: string } => ({
    id: `call_${at}`,
    name,
    arguments: JSON.stringify({ at }),
  });
  switch (messages.filter(({ role }) => role === "tool").length) {
    case 0:
      return { text: "I look.", toolCalls: [call("look", "a"), call("look", "b")] };
    case 2:
      return { toolCalls: [call("pay", "a")] };
    case 3:
      return { toolCalls: [call("look", "c"), call("pay", "b")] };
    default:
      return "All is paid.";
  }
}
