import { mkdtemp, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ControlError, ModelError } from "../kernel/errors.ts";
import { withTimeout } from "../kernel/abort.ts";
import { priceOf } from "../model/price.ts";
import { toldError } from "./errors.ts";
import { canAsk, canDraw, type Host } from "./host.ts";
import { wantsColor } from "./screen/style.ts";
import { plural, shown } from "./screen/text.ts";
import { type Flags, modelChoice, type ModelSettings } from "./settings.ts";

/** One thing the doctor looked at. `warn`: it works without; `fail`: it does not. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly text: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** The oldest Node this runs on. */
const NODE_FLOOR: readonly [number, number] = [20, 19];
/** Milliseconds a model has to answer one word. */
const PING_TIMEOUT = 30_000;
/** Room for models that think before they say a word. */
const PING_TOKENS = 512;

/** Whether this Node is new enough. @param version such as `20.19.1` */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNew = major > NODE_FLOOR[0] || (major === NODE_FLOOR[0] && minor >= NODE_FLOOR[1]);
  if (isNew) return { name: "node", state: "ok", text: version };
  return { name: "node", state: "fail", text: version, hint: `Install Node ${NODE_FLOOR.join(".")} or newer: https://nodejs.org` };
}

/** Whether git keeps the history of projects. */
export async function checkGit(): Promise<Check> {
  const { runProcess } = await import("../workspace/process.ts");
  const { findProgram } = await import("../workspace/program-path.ts");
  const git = findProgram("git");
  const hint = "Projects are written without it, but without history. Install it: https://git-scm.com";
  if (git === undefined) return { name: "git", state: "warn", text: "not found", hint };
  const result = await runProcess({ file: git, args: ["--version"], cwd: dirname(git), timeout: PING_TIMEOUT });
  if (result.kind === "exited" && result.code === 0) return { name: "git", state: "ok", text: shown(result.stdout, 80) };
  return { name: "git", state: "warn", text: `does not run (${result.kind})`, hint };
}

/** Whether what a model writes can be run: tried for real. */
export async function checkSandbox(): Promise<Check> {
  const { probeBubblewrap } = await import("../workspace/choose-sandbox.ts");
  const sandbox = await probeBubblewrap();
  if (sandbox.kind !== "refused") return { name: "sandbox", state: "ok", text: shown(sandbox.describe, 300) };
  const refusal = await sandbox.run({ root: "/", command: ["node"] });
  const { reason, hint } = refusal.kind === "refused" ? refusal : { reason: sandbox.describe, hint: "" };
  return {
    name: "sandbox",
    state: "warn",
    text: shown(reason, 300),
    hint: `Without it the tests that a model writes are not run. ${shown(hint, 600)}`,
  };
}

/** Whether a model is set; never what its key is. */
export function checkModel(host: Host, flags: Flags): Check {
  const choice = modelChoice(flags, host.env);
  const hint = "Set OPENAI_API_KEY, or TROUPE_BASE_URL to an OpenAI-compatible server. Without it the bundled ideas play: troupe demo";
  if (choice.kind === "none") return { name: "model", state: "warn", text: "neither a key nor a base URL is set", hint };
  const { id, baseURL, keyFrom, price } = choice.model;
  const known = priceOf(price === undefined ? { id } : { id, price });
  const where = baseURL === undefined ? "" : `, base URL ${placeOf(baseURL)}`;
  const cost =
    known === undefined
      ? "price not known, so that no budget binds it"
      : `$${known.input} in and $${known.output} out for a million tokens`;
  const text = `${shown(id, 80)}${where}, ${keyFrom === undefined ? "no key" : `key from ${keyFrom}`}, ${cost}`;
  return known === undefined
    ? { name: "model", state: "warn", text, hint: "Tell its price with --price in,out." }
    : { name: "model", state: "ok", text };
}

/** Asks the model for one word. The one check that may cost something: only when asked for. */
export async function pingModel(host: Host, settings: ModelSettings, signal: AbortSignal): Promise<Check & { readonly code?: string }> {
  const { openai } = await import("../adapters/openai.ts");
  const { id, apiKey, baseURL } = settings;
  const began = host.clock.now();
  const request = { messages: [{ role: "user" as const, content: "Answer with the word: ready" }], maxTokens: PING_TOKENS };
  try {
    const model = openai({ model: id, apiKey, baseURL });
    await withTimeout(host.clock, PING_TIMEOUT, `an answer from ${id}`, signal, (limit) => model.chat(request, { signal: limit }));
  } catch (error) {
    if (error instanceof ControlError) throw error;
    // It answered, if not with a word: that is all this asks.
    const isAnswer = error instanceof ModelError && ["MODEL_EMPTY", "MODEL_TRUNCATED"].includes(error.code);
    if (!isAnswer) return { name: "ping", state: "fail", ...saidBy(error, host) };
  }
  return { name: "ping", state: "ok", text: `${shown(id, 80)} answered in ${host.clock.now() - began} ms` };
}

/** Whether a project can be written where it would be by default, or where `--out` says. */
export async function checkOut(host: Host, out: string | undefined): Promise<Check> {
  const wanted = resolve(host.cwd, out ?? "workspace");
  const folder = await nearestFolder(wanted);
  try {
    await probeFolder(folder);
    return { name: "output", state: "ok", text: `${shown(wanted, 300)} can be written` };
  } catch (error) {
    const text = `${shown(wanted, 300)} cannot be written: ${shown(error instanceof Error ? error.message : String(error), 200)}`;
    return { name: "output", state: "fail", text, hint: "Choose another folder: --out <dir>" };
  }
}

/** Removes what killed runs left: half-written files of the project, and temporary folders. */
export async function checkLeftovers(host: Host, out: string | undefined, store: string): Promise<Check> {
  const { sweepFolders, sweepProject } = await import("../workspace/sweep.ts");
  const wanted = resolve(host.cwd, out ?? "workspace");
  const project = await realpath(wanted).catch(() => undefined);
  const places = new Set([await realpath(tmpdir()), await nearestFolder(wanted), await nearestFolder(dirname(store))]);
  const swept = [
    ...(project === undefined ? [] : [await sweepProject(project)]),
    ...(await Promise.all([...places].map((folder) => sweepFolders(folder)))),
  ];
  const removed = swept.reduce((sum, one) => sum + one.removed, 0);
  const left = swept.reduce((sum, one) => sum + one.left, 0);
  const text =
    removed === 0
      ? "no temporary files of killed runs"
      : `removed ${plural(removed, "temporary file or folder", "temporary files and folders")} of killed runs`;
  if (left === 0) return { name: "leftovers", state: "ok", text };
  const hint = "They belong to another user, machine or container, or to a process nobody can tell of. Remove them there.";
  return { name: "leftovers", state: "warn", text: `${text}; ${left} left alone`, hint };
}

/** Makes a folder and removes it again. */
export async function probeFolder(parent: string): Promise<void> {
  const { temporaryPrefix } = await import("../workspace/temporary-owner.ts");
  await rm(await mkdtemp(join(parent, temporaryPrefix(".troupe-doctor-"))), { recursive: true });
}

/** What the terminal can do. */
export function checkTerminal(host: Host, flags: Flags): Check {
  const { stderr, env } = host;
  const color = wantsColor({ isOff: flags.color === false, env, isTTY: stderr.isTTY === true });
  const size = stderr.isTTY === true ? `${stderr.columns ?? 80} columns` : "no terminal";
  const words = [
    size,
    color ? "colour" : "no colour",
    canDraw(host) ? "live progress" : "progress line by line",
    canAsk(host) ? "can be asked" : "cannot be asked",
  ];
  return { name: "terminal", state: "ok", text: words.join(", ") };
}

function saidBy(error: unknown, host: Host): { readonly text: string; readonly code: string } {
  const { code, message } = toldError(error, host.env);
  return { text: message, code };
}

function placeOf(baseURL: string): string {
  return URL.canParse(baseURL) ? shown(`${new URL(baseURL).origin}${new URL(baseURL).pathname}`, 200) : "that is no URL";
}

/** The folder, or the nearest above it that is there. */
export async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined);
    if (found !== undefined || folder === dirname(folder)) return folder;
  }
}
