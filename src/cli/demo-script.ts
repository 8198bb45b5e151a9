import type { ChatChunk, ChatModel, ChatOptions, ChatRequest, ChatResponse } from "../model/chat-model.ts";
import type { ModelPrice } from "../model/price.ts";
import { ModelError, UsageError } from "../kernel/errors.ts";
import { checkPath } from "../workspace/path-rules.ts";
import { dirname, join } from "node:path";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readdir, readFile } from "node:fs/promises";
import { scriptedModel, type ScriptedModel } from "../testing/scripted-model.ts";
import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { thrownText } from "../kernel/value-text.ts";

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

async function readIdea(id: string, folder: string): Promise<DemoIdea> {
  const path = join(folder, "idea.json");
  try {
    const { title, idea, aliases, model, price } = JSON.parse(await readFile(path, "utf8")) as DemoIdea;
    if (![title, idea, model].every((text) => typeof text === "string" && text !== ""))
      throw new TypeError("title, idea or model is no text");
    if (!Array.isArray(aliases) || !aliases.every((alias) => typeof alias === "string")) throw new TypeError("aliases is no list of texts");
    if (typeof price?.input !== "number" || typeof price.output !== "number") throw new TypeError("price has no input and output");
    return { id, title, idea, aliases, model, price, folder };
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

/** The file of the script that answers a task. Code is sent between fences. */
type Reply = { readonly kind: "data" | "code"; readonly file: string; readonly path: string };

/**
 * A model that plays a bundled idea: it answers each task, named in the first line of the last question, from the idea's files. Usage is
 * counted from characters and priced as the idea says.
 *
 * Its calls fail with ModelError `MODEL_SCRIPT` for a task without a reply.
 */
export function demoModel(idea: DemoIdea, options: DemoModelOptions = {}): ChatModel {
  return new DemoModel(idea, options);
}

class DemoModel implements ChatModel {
  readonly id: string;
  readonly price: ModelPrice;
  readonly #script: ScriptedModel;
  readonly #latency: number;
  readonly #clock: Clock;

  constructor(idea: DemoIdea, { latency = 0, clock = systemClock }: DemoModelOptions) {
    this.id = idea.model;
    this.price = idea.price;
    this.#script = scriptedModel((request) => answer(idea, request), { id: idea.model, price: idea.price });
    this.#latency = latency;
    this.#clock = clock;
  }

  chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse> {
    return this.#script.chat(request, o);
  }

  async *stream(request: ChatRequest, o: ChatOptions): AsyncGenerator<ChatChunk> {
    const { content, finishReason, usage } = await this.#script.chat(request, o);
    for (const [piece] of content.matchAll(PIECE)) {
      if (this.#latency > 0) await sleep(this.#clock, this.#latency, o.signal);
      yield { content: piece };
    }
    yield { finishReason, ...(usage === undefined ? {} : { usage }) };
  }
}

async function answer(idea: DemoIdea, request: ChatRequest): Promise<string> {
  const task = taskIn(request);
  const reply = replyTo(task);
  if (reply === undefined) throw noReply(idea, task);
  let text: string;
  try {
    text = await readFile(join(idea.folder, checkPath(reply.file)), "utf8");
  } catch (error) {
    throw noReply(idea, task, error);
  }
  return reply.kind === "code" ? fenced(text, reply.path) : text;
}

/** The task of the newest question that names one: a repeated question names none. */
function taskIn({ messages }: ChatRequest): string {
  for (const { role, content = "" } of messages.toReversed()) {
    const first = content.split("\n", 1)[0] ?? "";
    if (role === "user" && first.startsWith("# ")) return first.slice(2).trim();
  }
  return "";
}

function replyTo(task: string): Reply | undefined {
  const [, name = "", path = "", round = "1"] = /^(\w+)(?:: (.+?))?(?: \(round (\d+)\))?$/.exec(task) ?? [];
  const n = Number(round);
  const data = (file: string): Reply => ({ kind: "data", file, path });
  const code = (file: string): Reply => ({ kind: "code", file, path });
  switch (name) {
    case "WritePrd":
      return data("prd.json");
    case "WriteDesign":
      return data("design.json");
    case "WriteTasks":
      return data("tasks.json");
    case "WriteCode":
      return code(`code/${path}`);
    case "WriteCodeReview":
      return data(n === 1 ? `review/${path}.json` : `review-${n}/${path}.json`);
    case "RewriteCode":
      return code(`code-${n + 1}/${path}`);
    case "WriteTest":
      return code(path);
    case "DebugError":
      return data(`debug/${n}.json`);
    case "FixCode":
      return code(`debug-${n}/${path}`);
    default:
      return undefined;
  }
}

/** The file as a model would send it: between fences longer than any run of backticks in it. */
function fenced(text: string, path: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${path}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

function noReply(idea: DemoIdea, task: string, cause?: unknown): ModelError {
  return new ModelError(
    "MODEL_SCRIPT",
    `Expected a task that the script of "${idea.title}" has a reply for, got "${task.slice(0, 200)}". It plays this one idea; for anything else set a model: OPENAI_API_KEY, or TROUPE_BASE_URL.`,
    { data: { task: task.slice(0, 200), mayHaveRun: false }, ...(cause === undefined ? {} : { cause }) },
  );
}
