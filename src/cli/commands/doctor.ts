import { mkdtemp, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { journalFacts } from "../../adapters/sqlite-runs.ts";
import { findChromium } from "../../checks/chromium.ts";
import { throwIfAborted, untilAborted, withTimeout } from "../../kernel/abort.ts";
import { ControlError, ModelError, UsageError } from "../../kernel/errors.ts";
import { thrownText } from "../../kernel/value-text.ts";
import { LESSON_LASTS } from "../../model/dialect.ts";
import { priceOf } from "../../model/price.ts";
import { chooseSandbox, probeBubblewrap } from "../../workspace/choose-sandbox.ts";
import { runProcess } from "../../workspace/process.ts";
import { findProgram } from "../../workspace/program-path.ts";
import { sweepFolders, sweepProject } from "../../workspace/sweep.ts";
import { temporaryPrefix } from "../../workspace/temporary-owner.ts";
import { publicURL } from "../about.ts";
import { errorReport } from "../error-report.ts";
import type { ExitCode } from "../errors.ts";
import { canAsk, canDraw, type Host, valueIn } from "../host.ts";
import { dialectsFile, dialectText, readDialects } from "../kept-dialects.ts";
import { modelAt } from "../model-choice.ts";
import { isReachedByPackage, modelChoice, type ModelSettings } from "../model-settings.ts";
import { variableOf } from "../option-values.ts";
import { ENTRIES, type Flags } from "../options.ts";
import { providerPackage } from "../provider-model.ts";
import { bytesText, columnsOf, momentText, plural, shown, type TextStyle, wantsColor, wrapped } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";
import { isStore, storePlace } from "../store.ts";

/** The result of one check. `warn`: a run works without; `fail`: it does not. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly text: string;
  readonly hint?: string;
}

const MIN_NODE: readonly [number, number] = [20, 19];
const PING_TIMEOUT = 30_000;
const PING_TOKENS = 512;

export async function doctor(session: Session, flags: Flags): Promise<ExitCode> {
  const { host } = session;
  const { signal } = session.interruptions;
  if (flags.dialects === true) return dialects(session, flags);
  if (flags.clear === true) throw new UsageError("OPTION_CONFLICT", "Expected --dialects with --clear, got --clear alone. Add it.");
  const [git, sandbox] = [await untilAborted(checkGit(), signal), await untilAborted(checkSandbox(), signal)];
  const checks: Check[] = [checkNode(process.versions.node), git, sandbox, await checkPages(host), checkModel(host, flags)];
  checks.push(checkSettings(session));
  if (flags.ping === true) checks.push(await ping(session, flags));
  checks.push(await checkOut(host, flags.out), await checkStore(host, flags));
  checks.push(await checkLeftovers(host, flags.out, storePlace(flags, host).path), checkTerminal(host, flags));
  throwIfAborted(signal);
  const exitCode = exitCodeOfChecks(checks);
  await printResult(session, { type: "doctor", exitCode, checks }, (o) => checkLines(checks, o));
  return exitCode;
}

async function dialects(session: Session, flags: Flags): Promise<ExitCode> {
  const place = storePlace(flags, session.host);
  const known = readDialects(session, place);
  const [file, isCleared] = [dialectsFile(place), flags.clear === true];
  if (isCleared) await rm(file, { force: true });
  await printResult(session, { type: "dialects", file, cleared: isCleared, dialects: known }, ({ width }) => [
    ...known.flatMap(({ baseURL, model, dialect, at }) =>
      wrapped(
        `${shown(model, 80)} at ${shown(baseURL, 200)}: ${shown(dialectText(dialect), 1_000)}, until ${momentText(at + LESSON_LASTS)}`,
        width,
        2,
      ),
    ),
    known.length === 0 ? "There are no lessons of the last 24 hours." : isCleared ? "Removed." : `Kept in ${shown(file, 300)}.`,
  ]);
  return 0;
}

export function exitCodeOfChecks(checks: readonly Check[]): ExitCode {
  const failed = checks.filter(({ state }) => state === "fail");
  if (failed.some(({ name }) => name !== "ping")) return 1;
  return failed.length > 0 ? 7 : 0;
}

function checkLines(checks: readonly Check[], { style, width }: TextStyle): readonly string[] {
  const names = Math.max(...checks.map(({ name }) => name.length));
  const indent = names + 8;
  const paint = { ok: style.good, warn: style.warn, fail: style.bad };
  return checks.flatMap(({ name, state, text, hint }) => [
    ...wrapped(`${paint[state](state.padEnd(4))}  ${name.padEnd(names)}  ${text}`, width, indent),
    ...(hint === undefined ? [] : wrapped(" ".repeat(indent) + hint, width, indent).map(style.faint)),
  ]);
}

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNew = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  if (isNew) return { name: "node", state: "ok", text: version };
  return { name: "node", state: "fail", text: version, hint: `Install Node ${MIN_NODE.join(".")} or newer: https://nodejs.org` };
}

export async function checkGit(): Promise<Check> {
  const file = findProgram("git");
  const hint = "Projects are written without it, but without history. Install it: https://git-scm.com";
  if (file === undefined) return { name: "git", state: "warn", text: "not found", hint };
  const result = await runProcess({ file, args: ["--version"], cwd: dirname(file), timeout: PING_TIMEOUT });
  if (result.kind === "exited" && result.code === 0) return { name: "git", state: "ok", text: shown(result.stdout, 80) };
  return { name: "git", state: "warn", text: `does not run (${result.kind})`, hint };
}

export async function checkSandbox(): Promise<Check> {
  const sandbox = await probeBubblewrap();
  if (sandbox.kind !== "refused") return { name: "sandbox", state: "ok", text: shown(sandbox.describe, 300) };
  const refusal = await sandbox.run({ root: "/", command: ["node"] });
  const { reason, hint: advice } = refusal.kind === "refused" ? refusal : { reason: sandbox.describe, hint: "" };
  const hint = `Without it the tests that a model writes are not run. ${shown(advice, 600)}`;
  return { name: "sandbox", state: "warn", text: shown(reason, 300), hint };
}

export async function checkPages({ env }: Pick<Host, "env">): Promise<Check> {
  const found = findChromium(await chooseSandbox("auto"), env["CHROME_PATH"]);
  if (typeof found !== "string") return { name: "pages", state: "ok", text: shown(`a browser: ${found.program}`, 300) };
  const hint = `Page steps of acceptance criteria are not checked: ${found}.`;
  return { name: "pages", state: "warn", text: "no browser", hint: shown(hint, 600) };
}

export function checkModel({ env }: Host, flags: Flags): Check {
  const choice = modelChoice(flags, env);
  if (choice.kind === "none") {
    const hint = "Set OPENAI_API_KEY, or TROUPE_BASE_URL to an OpenAI-compatible server. Without it the bundled ideas play: troupe demo";
    return { name: "model", state: "warn", text: "neither a key nor a base URL is set", hint };
  }
  const { id, baseURL, keyFrom, price } = choice.model;
  const where = baseURL === undefined ? "" : `, base URL ${shown(publicURL(baseURL) ?? "that is no URL", 200)}`;
  const byPackage = isReachedByPackage(id, baseURL) ? packageCheck(id) : undefined;
  if (typeof byPackage === "object") return byPackage;
  const text = `${shown(id, 80)}${where}${byPackage ?? ""}, ${keyFrom === undefined ? "no key" : `key from ${keyFrom}`}`;
  const known = priceOf(price === undefined ? { id } : { id, price });
  if (known !== undefined)
    return { name: "model", state: "ok", text: `${text}, $${known.input} in and $${known.output} out for a million tokens` };
  const hint = "Give its price with --price in,out.";
  return { name: "model", state: "warn", text: `${text}, price not known, so that no budget binds it`, hint };
}

function packageCheck(id: string): Check | string {
  try {
    return `, by ${providerPackage(id)}`;
  } catch (error) {
    const [text, hint = ""] = errorReport(error, {}).message.split(" Install it: ");
    return { name: "model", state: "fail", text: text ?? "", hint: `Install it beside Troupe: ${hint}` };
  }
}

const SETTINGS: readonly (readonly [setting: string, ...variables: string[]])[] = [
  ...Object.entries(ENTRIES).flatMap(([name, { config }]) => (config === undefined ? [] : [[config, variableOf(name)] as const])),
  ["baseUrl", "OPENAI_BASE_URL"],
  ["apiKey", "TROUPE_API_KEY", "TROUPE_API_KEY_NAME", "OPENAI_API_KEY"],
  ["models", "TROUPE_MODELS"],
  ["roles", "TROUPE_ROLE_MODELS"],
];

/** Reports the origin of each setting. Values are not shown: one may be a key. */
function checkSettings({ host: { env }, settingsFrom, folder }: Session): Check {
  const ofFolder: Readonly<Record<string, unknown>> = { ...folder, ...folder?.times };
  const sources = SETTINGS.flatMap(([setting, ...variables]) => {
    const variable = variables.find((name) => valueIn(env, name) !== undefined);
    const own = variable === undefined ? [] : [settingsFrom.get(variable) ?? variable];
    const all = ofFolder[setting] === undefined ? own : [...own, folder?.file ?? ""];
    return all.length === 0 ? [] : [`${setting} from ${all.map((source) => shown(source, 200)).join(" and ")}`];
  });
  const text = sources.length === 0 ? "all are defaults" : `${sources.join(", ")}; the rest are defaults`;
  return { name: "settings", state: "ok", text };
}

async function ping({ host, interruptions }: Session, flags: Flags): Promise<Check> {
  const choice = modelChoice(flags, host.env);
  if (choice.kind === "model") return pingModel(host, choice.model, interruptions.signal);
  const expected = "Expected a model for --ping, got neither a key nor a base URL";
  throw new UsageError("OPTION_INVALID", `${expected}. Set OPENAI_API_KEY or TROUPE_BASE_URL.`);
}

/** Asks the model for one word. The only check that may cost something. */
export async function pingModel(host: Host, settings: ModelSettings, signal: AbortSignal): Promise<Check & { readonly code?: string }> {
  const { id } = settings;
  const began = host.clock.now();
  const request = { messages: [{ role: "user" as const, content: "Answer with the word: ready" }], maxTokens: PING_TOKENS };
  try {
    const model = modelAt(settings, id);
    await withTimeout(host.clock, PING_TIMEOUT, `an answer from ${id}`, signal, (limit) => model.chat(request, { signal: limit }));
  } catch (error) {
    if (error instanceof ControlError) throw error;
    if (!(error instanceof ModelError && ["MODEL_EMPTY", "MODEL_TRUNCATED"].includes(error.code))) {
      const { code, message } = errorReport(error, host.env);
      return { name: "ping", state: "fail", text: message, code };
    }
  }
  return { name: "ping", state: "ok", text: `${shown(id, 80)} answered in ${host.clock.now() - began} ms` };
}

export async function checkOut({ cwd }: Host, out: string = "workspace"): Promise<Check> {
  const wanted = resolve(cwd, out);
  try {
    await probeFolder(wanted);
    return { name: "output", state: "ok", text: `${shown(wanted, 300)} can be written` };
  } catch (error) {
    const text = `${shown(wanted, 300)} cannot be written: ${shown(thrownText(error), 200)}`;
    return { name: "output", state: "fail", text, hint: "Choose another folder: --out <dir>" };
  }
}

export async function checkStore(host: Host, flags: Flags): Promise<Check> {
  const { path, name } = storePlace(flags, host);
  try {
    let text = "not there yet, made with the first run";
    if (await isStore(path)) {
      const { version, runs, bytes } = await journalFacts(path);
      // A run whose last commits were lost looks like one that was killed before them.
      text = `version ${version}, ${plural(runs, "run")}, ${bytesText(bytes)}, can be written; whether last commits were lost is unknown`;
    } else await probeFolder(dirname(path));
    return { name: "store", state: "ok", text: `${shown(name, 300)}: ${text}` };
  } catch (error) {
    const hint = "Keep runs elsewhere: --store <file>, or TROUPE_STORE.";
    return { name: "store", state: "fail", text: errorReport(error, host.env).message, hint };
  }
}

export async function checkLeftovers(host: Host, out: string | undefined, store: string): Promise<Check> {
  const wanted = resolve(host.cwd, out ?? "workspace");
  const project = await realpath(wanted).catch(() => undefined);
  const folders = new Set([await realpath(tmpdir()), await nearestFolder(wanted), await nearestFolder(dirname(store))]);
  const swept = await Promise.all([
    ...(project === undefined ? [] : [sweepProject(project)]),
    ...[...folders].map((one) => sweepFolders(one)),
  ]);
  const removed = swept.reduce((sum, one) => sum + one.removed, 0);
  const left = swept.reduce((sum, one) => sum + one.left, 0);
  const files = plural(removed, "temporary file or folder", "temporary files and folders");
  const text = removed === 0 ? "no temporary files of killed runs" : `removed ${files} of killed runs`;
  if (left === 0) return { name: "leftovers", state: "ok", text };
  const hint = "They belong to another user, machine or container, or to a process that cannot be identified. Remove them there.";
  return { name: "leftovers", state: "warn", text: `${text}; ${left} left alone`, hint };
}

function checkTerminal(host: Host, flags: Flags): Check {
  const { stderr, env } = host;
  const isTTY = stderr.isTTY === true;
  const words = [
    isTTY ? `${columnsOf(stderr)} columns` : "no terminal",
    wantsColor({ isOff: flags.color === false, env, isTTY }) ? "color" : "no color",
    canDraw(host) ? "live progress" : "progress line by line",
    canAsk(host) ? "can be asked" : "cannot be asked",
  ];
  return { name: "terminal", state: "ok", text: words.join(", ") };
}

async function probeFolder(wanted: string): Promise<void> {
  const parent = await nearestFolder(wanted);
  await rm(await mkdtemp(join(parent, temporaryPrefix(".troupe-doctor-"))), { recursive: true });
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined);
    if (found !== undefined || folder === dirname(folder)) return folder;
  }
}
