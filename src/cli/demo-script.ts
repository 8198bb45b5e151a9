import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { inFence } from "../../actions/markdown.ts";
import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { ModelError, UsageError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import type { ChatModel, ChatRequest, ChatResponse } from "../model/chat-model.ts";
import type { ModelPrice } from "../model/price.ts";
import { scriptedModel, type ScriptedReply } from "../testing/scripted-model.ts";
import { checkPath } from "../workspace/path-rules.ts";

/** An idea with bundled replies: it can be played without a model. */
export interface DemoIdea {
  readonly id: string;
  readonly title: string;
  readonly idea: string;
  readonly aliases: readonly string[];
  readonly model: string;
  readonly price: ModelPrice;
  /** The crew whose roles the replies answer. */
  readonly crew: "waterfall" | "software-company";
  /** The user's words when the product is there; only a software company's script has replies for it. */
  readonly change?: string;
  /** Absolute path of the replies. */
  readonly folder: string;
}

export async function demoIdeas(): Promise<DemoIdea[]> {
  const folder = demoFolder();
  const entries = await readdir(folder, { withFileTypes: true });
  const ids = entries
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "idea.json")))
    .map((entry) => entry.name);
  return Promise.all(ids.sort().map((id) => readIdea(id, join(folder, id))));
}

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
    const isCompany = crew === "software-company";
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
 * files; of the software company it answers each role, see `companyReply`. Usage is counted from characters and priced as the idea says.
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

export interface CompanyScript {
  readonly folder: string;
  readonly change: string;
}

/** A request as the script finds its reply: `first` until the user asks for the change. Nothing but the request decides. */
export interface ScriptPlace {
  readonly part: "first" | "change" | "other";
  readonly role: string;
  readonly step: number;
}

const NAME = /\bnamed ([A-Za-z]{1,20})\b/;
/** Workers are told who they are at the end of their task, others in the system message. */
const WORKER = /^## Your role\n.*?\bnamed ([A-Za-z]{1,20})\b/m;
const LATER = /^#+ The user's later words, (\d+)\n+(.*)$/gm;
const PRESENT = /^#+ The user's words\n+(.*)$/m;
/** The product manager alone reads what is said now below what was said first. */
const FIRST = /^#+ The user's first words$/m;

/**
 * The place of a request in the script. The request has all that it needs, so that a run that another process continues gets the replies
 * that it would have got.
 */
function placeOf({ messages }: ChatRequest, { change }: Pick<CompanyScript, "change">): ScriptPlace {
  const textOf = (wanted: "system" | "user"): string =>
    messages.flatMap(({ role, content }) => (role === wanted && content !== undefined ? [content] : [])).join("\n\n");
  const said = textOf("user");
  const later = new Map([...said.matchAll(LATER)].map(([, number, words = ""]) => [number, words.trim()]));
  const present = FIRST.test(said) ? [PRESENT.exec(said)?.[1]?.trim() ?? ""] : [];
  const replies = messages.filter(({ role, toolCalls }) => role === "assistant" && toolCalls !== undefined);
  return {
    part: partOf([...later.values(), ...present], change),
    role: (WORKER.exec(said) ?? NAME.exec(textOf("system")))?.[1]?.toLowerCase() ?? "",
    step: replies.length + 1,
  };
}

function partOf(later: readonly string[], change: string): ScriptPlace["part"] {
  if (later.length === 0) return "first";
  return later.length === 1 && later[0] === change ? "change" : "other";
}

interface WrittenReply {
  readonly content?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
}

/**
 * The reply of a script: the text of `answers/<part>/<role>-<step>.json`, or the calls of tools in it. A folder of the same name without
 * ending holds the files that the reply writes; they come before its other calls.
 */
async function companyReply(script: CompanyScript, request: ChatRequest): Promise<Partial<ChatResponse> | undefined> {
  const { part, role, step } = placeOf(request, script);
  const place = join(script.folder, "answers", part, `${role}-${step}`);
  const text = await ifThere(readFile(`${place}.json`, "utf8"));
  if (part === "other" || role === "" || text === undefined) return undefined;
  const { content = "", calls } = JSON.parse(text) as WrittenReply;
  if (calls === undefined) return { content: text };
  const files = await filesIn(place);
  const all = files.length === 0 ? calls : [{ name: "write_files", arguments: { files } }, ...calls];
  const toolCalls = all.map(({ name, arguments: given }, n) => ({
    id: `${part}-${role}-${step}-${n + 1}`,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(given) },
  }));
  return { content, toolCalls };
}

async function filesIn(folder: string): Promise<readonly { readonly path: string; readonly content: string }[]> {
  const entries = (await ifThere(readdir(folder, { recursive: true, withFileTypes: true }))) ?? [];
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    paths.sort().map(async (path) => ({ path: relative(folder, path).split(sep).join("/"), content: await readFile(path, "utf8") })),
  );
}
