import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DeliveryReport } from "../../src/cli/delivery.ts";
import { main } from "../../src/cli/program.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { nextMacrotask, systemClock } from "../../src/kernel/clock.ts";
import { openaiStub } from "../../src/testing/index.ts";
import type { StubHandler } from "../../src/testing/openai-stub.ts";
import { root } from "../architecture/read-house.ts";
import { sandbox } from "../checks/project.ts";
import { fakeHost } from "../cli/fake-host.ts";
import { newestIn } from "../cli/kept-run.ts";

/** A tiny idea, as far as tests need it. */
export interface TinyIdea {
  readonly name: string;
  readonly idea: string;
  readonly proof: { readonly run: readonly [string, ...string[]]; readonly stdout: string };
}

/** The end of one run. */
export interface FallibleRun {
  readonly idea: TinyIdea;
  readonly code: number;
  readonly status: string;
  readonly errorCode: string;
  /** Dollars. */
  readonly cost: number;
  readonly budget: number;
  readonly calls: number;
  /** Exit code of its replay, and what that said. */
  readonly replay: { readonly code: number; readonly said: string };
  /** True when the product does what its idea says, found out by running it here. */
  readonly works: boolean;
  /** Ids of the criteria of priority P0 that the delivery does not call proven; undefined without a delivery. */
  readonly unproven: readonly string[] | undefined;
  readonly said: string;
}

/** Dollars, none of which is enough. */
const BUDGETS = [0.004, 0.036, 0.04];
const FIRST_BYTE = 100_000;
const REAL_FIRST_BYTE = 2_000;
const LONGEST_PAUSE = 30_000;

/** Pauses between tries pass soon, and so does the wait for a server that says nothing. Limits of programs hold as they are. */
const hurried: Clock = {
  now: () => systemClock.now(),
  timer: (ms, fire) => systemClock.timer(ms === FIRST_BYTE ? REAL_FIRST_BYTE : ms <= LONGEST_PAUSE ? Math.ceil(ms / 100) : ms, fire),
};

/** Runs the command inside this process. */
async function command(
  cwd: string,
  words: readonly string[],
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const host = fakeHost({ cwd, clock: hurried, env: { PATH: process.env["PATH"] ?? "", TROUPE_API_KEY: "none" } });
  host.stdin.end("");
  const code = await main(host, words);
  await nextMacrotask();
  return { code, stdout: host.stdout.text, stderr: host.stderr.text };
}

/** Lets the company work on a tiny idea with a model that answers by a seed, replays the run, and tries the product. */
export async function fallibleRun(cwd: string, seed: number): Promise<FallibleRun> {
  const { tinyIdeas, fallibleModel } = await loaded();
  const idea = tinyIdeas[seed % tinyIdeas.length] as TinyIdea;
  const budget = seed % 7 === 3 ? BUDGETS[seed % BUDGETS.length]! : 0.5;
  const folder = join(cwd, String(seed));
  mkdirSync(folder, { recursive: true });
  await using server = await openaiStub({ handler: fallibleModel(seed) });
  const model = ["--model", "fallible", "--base-url", server.url, "--price", "0.25,2", "--budget", String(budget), "--seed", String(seed)];
  const limits = ["--first-byte", `${FIRST_BYTE / 1000}s`, "--silence", `${FIRST_BYTE / 1000}s`];
  const size = seed % 11 === 5 ? ["--size", "M"] : [];
  const ended = await command(folder, ["run", idea.idea, "--json", "--yes", "--out", "product", ...model, ...limits, ...size]);
  const last = ended.stdout.trim().split("\n").at(-1) ?? "";
  const result = (last.startsWith("{") ? JSON.parse(last) : {}) as {
    readonly status?: string;
    readonly error?: { readonly code: string };
    readonly cost?: { readonly known: number };
    readonly delivery?: DeliveryReport;
  };
  const replayed = await command(folder, ["replay", await newestIn(folder)]);
  return {
    idea,
    code: ended.code,
    status: result.status ?? "none",
    errorCode: result.error?.code ?? "",
    cost: (result.cost?.known ?? 0) / 1_000_000,
    budget,
    calls: server.requests.length,
    replay: { code: replayed.code, said: replayed.stderr.slice(-2_000) },
    works: await doesWork(join(folder, "product"), idea),
    unproven: unprovenIn(result.delivery),
    said: ended.stderr.slice(-4_000),
  };
}

async function loaded(): Promise<{ readonly tinyIdeas: readonly TinyIdea[]; readonly fallibleModel: (seed: number) => StubHandler }> {
  const [ideas, stub] = await Promise.all(
    ["tiny-ideas", "stub"].map((name) => import(join(root, "evaluation", `${name}.mjs`)) as Promise<object>),
  );
  return { ...ideas, ...stub } as never;
}

async function doesWork(product: string, { proof }: TinyIdea): Promise<boolean> {
  if (!existsSync(product)) return false;
  const result = await sandbox.run({ root: product, command: proof.run });
  return result.kind === "exited" && result.code === 0 && result.stdout.trim() === proof.stdout;
}

/** The criteria of priority P0 that a delivery does not call proven; undefined without one. */
function unprovenIn(delivery: DeliveryReport | undefined): readonly string[] | undefined {
  if (delivery === undefined) return undefined;
  const must = delivery.verification.verdicts.filter(({ priority }) => priority === "P0");
  return must.length === 0 ? ["none"] : must.filter(({ outcome }) => outcome !== "proven").map(({ id }) => id);
}
