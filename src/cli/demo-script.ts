import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { inFence } from "../../actions/markdown.ts";
import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { ModelError, UsageError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import type { ChatModel, ChatRequest } from "../model/chat-model.ts";
import type { ModelPrice } from "../model/price.ts";
import { ownPackage } from "../research/experiment/manifest.ts";
import { scriptedModel, type ScriptedReply } from "../testing/scripted-model.ts";
import { checkPath } from "../workspace/path-rules.ts";

export interface DemoIdea {
  readonly id: string;
  readonly title: string;
  readonly idea: string;
  readonly aliases: readonly string[];
  readonly model: string;
  readonly price: ModelPrice;
  readonly crew: "waterfall" | "software-company";
  /** The user's words when the product is there; only a software company's script has replies for it. */
  readonly change?: string;
  readonly folder: string;
}

export async function demoIdeas(): Promise<DemoIdea[]> {
  const folder = fileURLToPath(new URL("demo", ownPackage()?.folder ?? import.meta.url));
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new UsageError("DEMO_MISSING", `Expected the folder ${folder} of this package. Install the package again.`, { cause });
  });
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

async function readIdea(id: string, folder: string): Promise<DemoIdea> {
  const path = join(folder, "idea.json");
  try {
    return { crew: "waterfall", ...(JSON.parse(await readFile(path, "utf8")) as Omit<DemoIdea, "id" | "folder" | "crew">), id, folder };
  } catch (cause) {
    const text = `Expected a bundled idea in ${path}, but it cannot be read: ${thrownText(cause)}.`;
    throw new UsageError("DEMO_INVALID", text, { cause });
  }
}

const PIECE = /[^]{1,48}/gu;

/** Usage is counted from characters and priced as the idea says. @param latency milliseconds before each piece of a streamed reply */
export function demoModel(idea: DemoIdea, latency: number = 0, clock: Clock = systemClock): ChatModel {
  const { model: id, price } = idea;
  const reply = (request: ChatRequest): Promise<ScriptedReply> =>
    idea.crew === "waterfall" ? waterfallReply(idea, request) : companyReply(idea, request);
  const script = scriptedModel(reply, { id, price });
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

async function waterfallReply(idea: DemoIdea, { messages }: ChatRequest): Promise<string> {
  const asked = messages.findLast(({ role, content = "" }) => role === "user" && content.startsWith("# "))?.content ?? "";
  const task = asked.slice(2).split("\n", 1)[0]?.trim() ?? "";
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

function noReply(idea: DemoIdea, task: string, cause?: unknown): ModelError {
  const expected = `Expected a task that the script of "${idea.title}" has a reply for, got "${task.slice(0, 200)}"`;
  const advice = "It plays this one idea; for anything else set a model: OPENAI_API_KEY, or TROUPE_BASE_URL.";
  return new ModelError("MODEL_SCRIPT", `${expected}. ${advice}`, { data: { task: task.slice(0, 200), mayHaveRun: false }, cause });
}

const ROLE = /^## Your role\n.*?\bnamed ([A-Za-z]{1,20})\b/m;
const LATER = /^#+ The user's later words, (\d+)\n+(.*)$/gm;

/**
 * The text of `answers/<part>/<role>-<step>.json`, or the calls of tools in it; the part is `first` until the user asks for the change. Nothing
 * but the request decides, so that a run that another process continues gets the same replies.
 */
async function companyReply(idea: DemoIdea, { messages }: ChatRequest): Promise<ScriptedReply> {
  const said = messages.flatMap(({ role, content }) => (role === "user" && content !== undefined ? [content] : [])).join("\n\n");
  const later = new Map([...said.matchAll(LATER)].map(([, number, words = ""]) => [number, words.trim()]));
  const words = [...later.values()];
  const part = words.length === 0 ? "first" : words.length === 1 && words[0] === idea.change ? "change" : undefined;
  if (part === undefined) throw noReply(idea, "another change");
  const role = ROLE.exec(said)?.[1]?.toLowerCase() ?? "";
  const isDerived = /^# Derive$/m.test(said);
  const step = isDerived
    ? "derive"
    : messages.filter((message) => message.role === "assistant" && message.toolCalls !== undefined).length + 1;
  const folder = join(idea.folder, "answers", part, `${role}-${step}`);
  const text = role === "" ? undefined : await ifThere(readFile(`${folder}.json`, "utf8"));
  if (text === undefined) throw noReply(idea, `${part}, ${role}, reply ${step}`);
  const { content = "", calls } = JSON.parse(text) as { content?: string; calls?: { name: string; arguments: unknown }[] };
  if (calls === undefined) return { content: text };
  const files = await filesIn(folder);
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
