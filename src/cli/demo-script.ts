import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inFence } from "../../actions/markdown.ts";
import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { ModelError, UsageError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import type { ChatModel, ChatRequest } from "../model/chat-model.ts";
import type { ModelPrice } from "../model/price.ts";
import { scriptedModel, type ScriptedReply } from "../testing/scripted-model.ts";
import { checkPath } from "../workspace/path-rules.ts";
import { companyReply, placeOf } from "./company-script.ts";

/** An idea with bundled replies: it can be played without a model. */
export interface DemoIdea {
  /** Name of its folder in `demo/`. */
  readonly id: string;
  readonly title: string;
  /** The text the roles get. */
  readonly idea: string;
  /** Other texts for the same idea. */
  readonly aliases: readonly string[];
  /** Name of the scripted model. */
  readonly model: string;
  /** The price of its replies in the ledger, as if a model had written them. */
  readonly price: ModelPrice;
  /** The crew whose roles the replies answer. */
  readonly crew: "waterfall" | "software-company";
  /** The user's words when the product is there; only a software company's script has replies for it. */
  readonly change?: string;
  /** Absolute path of the replies. */
  readonly folder: string;
}

/**
 * The bundled ideas, by id.
 *
 * @throws UsageError `DEMO_MISSING` when the package has lost its demo folder, `DEMO_INVALID` when an idea there cannot be read.
 */
export async function demoIdeas(): Promise<DemoIdea[]> {
  const folder = demoFolder();
  const entries = await readdir(folder, { withFileTypes: true });
  const ids = entries
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "idea.json")))
    .map((entry) => entry.name);
  return Promise.all(ids.sort().map((id) => readIdea(id, join(folder, id))));
}

/** The bundled idea with this text, title, id or alias. Case, punctuation, spaces and a leading article are ignored. */
export function matchIdea(text: string, ideas: readonly DemoIdea[]): DemoIdea | undefined {
  const wanted = normalised(text);
  if (wanted === "") return undefined;
  return ideas.find(({ id, title, idea, aliases }) => [idea, title, id, ...aliases].some((words) => normalised(words) === wanted));
}

function normalised(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .replace(/^(an?|the) /, "");
}

/** `demo/` stands beside the package's own `package.json`, two folders up in the source and three in the build. */
function demoFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (const up of ["../..", "../../.."]) {
    const folder = join(here, up, "demo");
    if (existsSync(folder) && existsSync(join(here, up, "package.json"))) return folder;
  }
  throw new UsageError(
    "DEMO_MISSING",
    `Expected the folder demo of this package above ${here}, but it is not there. Install the package again.`,
  );
}

type WrittenIdea = Omit<DemoIdea, "id" | "folder" | "crew"> & Partial<Pick<DemoIdea, "crew">>;

async function readIdea(id: string, folder: string): Promise<DemoIdea> {
  const path = join(folder, "idea.json");
  try {
    const { title, idea, aliases, model, price, crew = "waterfall", change } = JSON.parse(await readFile(path, "utf8")) as WrittenIdea;
    if (![title, idea, model].every((text) => typeof text === "string" && text !== ""))
      throw new TypeError("title, idea or model is no text");
    if (!Array.isArray(aliases) || !aliases.every((alias) => typeof alias === "string")) throw new TypeError("aliases is no list of texts");
    if (typeof price?.input !== "number" || typeof price.output !== "number") throw new TypeError("price has no input and output");
    const isCompany = crew === "software-company";
    if (isCompany !== (typeof change === "string" && change !== "")) throw new TypeError("a change goes with the software company");
    return { id, title, idea, aliases, model, price, crew: isCompany ? crew : "waterfall", ...(isCompany ? { change } : {}), folder };
  } catch (error) {
    const reason = thrownText(error);
    throw new UsageError("DEMO_INVALID", `Expected a bundled idea in ${path}, but it cannot be read: ${reason}.`, { cause: error });
  }
}

export interface DemoModelOptions {
  /** Milliseconds before each piece of a streamed reply, so that a person can follow. Default 0. */
  readonly latency?: number;
  readonly clock?: Clock;
}

const PIECE = /[^]{1,48}/gu;

/**
 * A model that plays a bundled idea. Of the waterfall it answers each task, named in the first line of the last question, from the idea's
 * files; of the software company it answers each role, see `companyReply`. Usage is
 * counted from characters and priced as the idea says.
 *
 * Its calls fail with ModelError `MODEL_SCRIPT` for a task without a reply.
 */
export function demoModel(idea: DemoIdea, { latency = 0, clock = systemClock }: DemoModelOptions = {}): ChatModel {
  const { model: id, price } = idea;
  const script = scriptedModel((request) => (idea.crew === "waterfall" ? answer(idea, request) : companyAnswer(idea, request)), {
    id,
    price,
  });
  return {
    id,
    price,
    chat: (request, o) => script.chat(request, o),
    async *stream(request, o) {
      const { content, toolCalls, finishReason, usage } = await script.chat(request, o);
      for (const [piece] of content.matchAll(PIECE)) {
        if (latency > 0) await sleep(clock, latency, o.signal);
        yield { content: piece };
      }
      for (const [index, call] of toolCalls.entries()) {
        const { name, arguments: given } = call.function;
        yield { toolCalls: [{ index, id: call.id, name, arguments: given }] };
      }
      yield { finishReason, ...(usage === undefined ? {} : { usage }) };
    },
  };
}

/** The files that answer the tasks, by the path and the round of a task. */
const FILES = new Map<string, (path: string, round: number) => string>([
  ["WritePrd", () => "prd.json"],
  ["WriteDesign", () => "design.json"],
  ["WriteTasks", () => "tasks.json"],
  ["WriteCode", (path) => `code/${path}`],
  ["WriteCodeReview", (path, round) => (round === 1 ? `review/${path}.json` : `review-${round}/${path}.json`)],
  ["RewriteCode", (path, round) => `code-${round + 1}/${path}`],
  ["WriteTest", (path) => path],
  ["DebugError", (_path, round) => `debug/${round}.json`],
  ["FixCode", (path, round) => `debug-${round}/${path}`],
]);
/** Tasks that are answered with code, between fences. */
const CODE_TASKS: ReadonlySet<string> = new Set(["WriteCode", "RewriteCode", "WriteTest", "FixCode"]);

async function answer(idea: DemoIdea, request: ChatRequest): Promise<string> {
  const task = taskIn(request);
  const [, name = "", path = "", round = "1"] = /^(\w+)(?:: (.+?))?(?: \(round (\d+)\))?$/.exec(task) ?? [];
  const file = FILES.get(name)?.(path, Number(round));
  if (file === undefined) throw noReply(idea, task);
  try {
    const text = await readFile(join(idea.folder, checkPath(file)), "utf8");
    return CODE_TASKS.has(name) ? `${inFence(text, path)}\n` : text;
  } catch (error) {
    throw noReply(idea, task, error);
  }
}

async function companyAnswer(idea: DemoIdea, request: ChatRequest): Promise<ScriptedReply> {
  const script = { folder: idea.folder, change: idea.change ?? "" };
  const reply = await companyReply(script, request);
  if (reply !== undefined) return reply;
  const { part, role, step } = placeOf(request, script);
  throw noReply(idea, part === "other" ? "another change" : `${part}, ${role}, reply ${step}`);
}

/** The task of the newest question that names one: a repeated question names none. */
function taskIn({ messages }: ChatRequest): string {
  for (const { role, content = "" } of messages.toReversed()) {
    const first = content.split("\n", 1)[0] ?? "";
    if (role === "user" && first.startsWith("# ")) return first.slice(2).trim();
  }
  return "";
}

function noReply(idea: DemoIdea, task: string, cause?: unknown): ModelError {
  return new ModelError(
    "MODEL_SCRIPT",
    `Expected a task that the script of "${idea.title}" has a reply for, got "${task.slice(0, 200)}". It plays this one idea; for anything else set a model: OPENAI_API_KEY, or TROUPE_BASE_URL.`,
    { data: { task: task.slice(0, 200), mayHaveRun: false }, ...(cause === undefined ? {} : { cause }) },
  );
}
