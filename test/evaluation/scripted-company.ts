import { join } from "node:path";
import type { ResultReport } from "../../src/cli/report.ts";
import { openaiStub, type StubReply } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { command, linesIn } from "../cli/kept-run.ts";

/** The replies of each role, one reply after another; the last one is said again. Product managers, architects and verifiers answer with JSON. */
export interface Script {
  readonly manager: object;
  readonly architect?: object;
  readonly qa?: readonly StubReply[];
  /** Of products of size L. */
  readonly planner?: object;
  readonly engineer: readonly StubReply[];
  readonly verifier?: object;
}

/** The end of a run of the command with a scripted company. */
export interface ScriptedRun {
  readonly code: number;
  readonly result: ResultReport;
  /** The requests by the role that asked. */
  readonly requests: Readonly<Record<keyof Script, readonly OpenAIBody[]>>;
  /** All of them, in their order. */
  readonly all: readonly OpenAIBody[];
  readonly stderr: string;
}

const ACCEPTED = { reasons: "I have read it, and it does what the words ask for.", judgements: [], complaints: [], accepts: true };
const ROLES: readonly (readonly [string, keyof Script])[] = [
  ["Product Manager", "manager"],
  ["Architect", "architect"],
  ["QA Engineer", "qa"],
  ["Project Manager", "planner"],
  ["Engineer", "engineer"],
  ["Verifier", "verifier"],
];

function roleOf(body: OpenAIBody): keyof Script {
  const found = ROLES.find(([profile]) => wordsOf(body).includes(`a ${profile}, named`) || wordsOf(body).includes(`an ${profile}, named`));
  if (found === undefined) throw new Error(`No role is known for ${wordsOf(body).slice(0, 200)}`);
  return found[1];
}

/** All words of a request. */
export function wordsOf({ messages }: OpenAIBody): string {
  return messages.map(({ content = "" }) => (typeof content === "string" ? content : JSON.stringify(content))).join("\n");
}

/** A reply in which a worker writes files and says that it is done. */
export function writes(files: Readonly<Record<string, string>>, ...reads: readonly string[]): StubReply {
  const given = Object.entries(files).map(([path, content]) => ({ path, content }));
  const call = (name: string, args: object): { name: string; arguments: string } => ({ name, arguments: JSON.stringify(args) });
  const views = reads.map((path) => call("editor", { command: "view", path }));
  return { toolCalls: [...views, call("write_files", { files: given }), call("done", { summary: "It is written and tested." })] };
}

/** Runs `troupe run`, or `troupe spec`, inside this process, with a company that says what the script says. */
export async function scriptedRun(
  cwd: string,
  idea: string,
  script: Script,
  words: readonly string[] = [],
  { verb = "run", env = {} }: { readonly verb?: "run" | "spec"; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ScriptedRun> {
  const requests: Record<keyof Script, OpenAIBody[]> = { manager: [], architect: [], qa: [], planner: [], engineer: [], verifier: [] };
  await using server = await openaiStub({
    handler: (body) => {
      const role = roleOf(body);
      requests[role].push(body);
      const given = script[role] ?? ACCEPTED;
      return Array.isArray(given) ? (given[Math.min(requests[role].length, given.length) - 1] as StubReply) : JSON.stringify(given);
    },
  });
  const model = ["--model", "scripted", "--base-url", server.url, "--price", "0.25,2", "--budget", "5"];
  const out = words.includes("--out") || words.includes("--in") ? [] : ["--out", join(cwd, "product")];
  const { code, stdout, stderr } = await command(cwd, [verb, "-", "--json", "--yes", ...model, ...out, ...words], {
    env: { TROUPE_API_KEY: "none", ...env },
    stdin: idea,
  });
  return { code, result: linesIn(stdout).at(-1) as ResultReport, requests, all: server.requests, stderr };
}
