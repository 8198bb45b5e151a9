import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { ModelError } from "../kernel/errors.ts";
import type { ChatChunk, ChatModel, ChatOptions, ChatRequest, ChatResponse } from "../model/chat-model.ts";
import type { ModelPrice } from "../model/price.ts";
import { type ScriptedModel, scriptedModel } from "../testing/scripted-model.ts";
import { checkPath } from "../workspace/path-rules.ts";
import type { DemoIdea } from "./demo-ideas.ts";

/** How the model of a bundled idea behaves. */
export interface DemoModelOptions {
  /** Milliseconds before each piece of a streamed reply, so that one can watch it come. Default 0. */
  readonly latency?: number;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** So many characters make one piece of a streamed reply. */
const PIECE = /[^]{1,48}/gu;

/** Which file of the script answers a task, and whether it is code. */
type Reply = { readonly kind: "data" | "code"; readonly file: string; readonly path: string };

/**
 * A model that plays a bundled idea: it answers each task, named in the first line of the last question, from the idea's files. Usage is
 * counted from characters, as a model's is that tells none, and priced as the idea says.
 *
 * Its calls fail with ModelError `MODEL_SCRIPT` for a task the script does not have.
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

/** The task of the newest question that names one; when a reply is asked for again, that is the question before. */
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
