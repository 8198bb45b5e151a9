import { join, relative, resolve } from "node:path";
import { untilAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import { sandboxFor, slugOf } from "../company.ts";
import { writeConfig } from "../config.ts";
import { assertSound, chosenRun } from "../crew-file.ts";
import { type DemoIdea, demoIdeas, matchIdea } from "../demo-script.ts";
import type { ExitCode } from "../errors.ts";
import { canAsk } from "../host.ts";
import { ideaSource, readIdea } from "../idea.ts";
import { noModelSet, noModel, realModel, scriptModel } from "../model-choice.ts";
import { allowWorker, workerSettings } from "../outside-worker.ts";
import { withoutFixed } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { inConfirmedFolder, newProduction, type NewRun, produce } from "../production.ts";
import { shellWord, shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import { agentSettings, companySettings, type CompanySettings, conflict, type CrewSettings } from "../settings.ts";
import { withStore } from "../store.ts";
import { isFile, isInside } from "../text-file.ts";
import { resume, tell } from "./resume.ts";

export async function run(session: Session, flags: Flags, ...words: string[]): Promise<ExitCode> {
  const { host, interruptions, screen } = session;
  if (flags.initConfig === true) return initConfig(session);
  checkMetaGPT(flags);
  if (flags.recoverPath !== undefined) return recovered(session, words, flags, flags.recoverPath);
  const bundled = await demoIdeas();
  const isBundled = (text: string): boolean => matchIdea(text, bundled) !== undefined;
  const tests = await testsAgain(host.cwd, flags);
  const hasWords = tests === undefined || words.length > 0 || flags.file !== undefined;
  const isMeant = session.words[0] === "run" || isSpec(session) || flags.yes === true;
  const source = hasWords ? ideaSource(words, flags.file, { isMeant, isBundled }) : undefined;
  const { settings, crew } = await chosenRun(session, flags);
  const { model, isConfirmed } = settings;
  const read = source === undefined ? undefined : await untilAborted(readIdea(source, host), interruptions.signal);
  const idea = [read, tests].filter((part) => part !== undefined).join("\n\n");
  if (model.kind === "model") {
    const chosen = await realModel(model.model, settings);
    if (crew !== undefined) await assertSound(session, crew, settings, chosen);
    const name = slugOf(flags.projectName ?? idea);
    return begin(session, flags, { settings: companySettingsOf(session, settings), idea, name, chosen, isConfirmed });
  }
  const known = matchIdea(idea, bundled);
  if (isSpec(session)) throw noModelSet(model.asked);
  if (model.asked !== undefined || known === undefined || crew !== undefined) throw noModel(model.asked, bundled);
  const text = `No model is set: playing the bundled script for "${shown(known.title)}". Everything after the replies is real.`;
  screen.say(screen.style.strong(text));
  const scripted: CompanySettings = { ...settings, crew: scriptedCrew(known, settings) };
  const name = flags.projectName === undefined ? known.id : slugOf(flags.projectName);
  return begin(session, flags, { settings: scripted, idea, name, chosen: scriptModel(known, scripted, session), isConfirmed });
}

async function recovered(session: Session, words: readonly string[], flags: Flags, path: string): Promise<ExitCode> {
  if (words.length > 0 || flags.file !== undefined) {
    const advice = "To say something new, fork it: troupe fork <id> --add <file>";
    throw conflict(`Expected --recover-path without an idea: the run has its own. ${advice}`);
  }
  const { recoverPath: _path, ...others } = flags;
  return resume(session, { ...others, store: await recoveredStore(session.host.cwd, path) });
}

async function initConfig({ host, json }: Session): Promise<ExitCode> {
  const path = await writeConfig(host);
  if (json === undefined) host.stdout.write(`Written: ${shown(path)}. Every line is a comment: take away the # of those you want.\n`);
  else await json.write({ type: "config", path });
  return 0;
}

function companySettingsOf<S extends CompanySettings>(session: Session, settings: S): S {
  const { crew } = settings;
  if (crew.kind !== "software-company") return settings;
  const asks = session.json === undefined && canAsk(session.host);
  return { ...settings, crew: { ...crew, ...(asks ? { asks } : {}), ...(isSpec(session) ? { isSpec: true } : {}) } };
}

/** `troupe spec` is a run whose company ends with the criteria. */
function isSpec({ words }: Session): boolean {
  return words[0] === "spec";
}

export async function demo(session: Session, flags: Flags, id: string = "shopping"): Promise<ExitCode> {
  const { screen } = session;
  const known = demoOf(await demoIdeas(), id);
  const given = companySettings(flags);
  const settings = { ...given, crew: scriptedCrew(known, given) };
  const text = `Playing the bundled script for "${shown(known.title)}". No model is asked; everything after the replies is real.`;
  screen.say(screen.style.strong(text));
  const chosen = scriptModel(known, settings, session);
  const { code, runId } = await started(session, flags, { settings, idea: known.idea, name: known.id, chosen, isConfirmed: true });
  if (known.change === undefined || code !== 0) return code;
  screen.say("");
  // A given limit of rounds holds for each part.
  const { rounds: _rounds, ...same } = withoutFixed(flags);
  const changed = await tell(session, same, runId, known.change);
  if (changed === 0) screen.print(tryNext(session, runId, flags), 6);
  return changed;
}

function scriptedCrew({ crew: kind }: DemoIdea, { crew }: CompanySettings): CrewSettings {
  if (kind === "waterfall") return crew.kind === "waterfall" ? crew : { kind };
  return crew.kind === "software-company" && crew.approve !== undefined ? { kind, approve: crew.approve } : { kind };
}

function tryNext({ host: { env }, screen: { style }, output }: Session, runId: string, { store }: Flags): readonly string[] {
  if (output.isQuiet) return [];
  const isNpm = env["npm_lifecycle_event"] === "start";
  const troupe = isNpm ? "npm start --" : "troupe";
  const where = store === undefined ? "" : ` --store ${shellWord(store)}`;
  const commands = [
    ["look at it in the browser: who said what to whom, and why", `${troupe} inspect ${runId}${where}`],
    ["play it again from its record, without a call", `${troupe} replay ${runId}${where}`],
    ["what each role said", `${troupe} runs show ${runId}${where}`],
    ["another crew, a game for the browser", `${troupe} demo 2048`],
    ["your own idea, with OPENAI_API_KEY or TROUPE_BASE_URL", `${troupe} ${isNpm ? "run " : ""}"A habit tracker in the browser"`],
  ] as const;
  return ["", style.strong("Try next:"), ...commands.flatMap(([what, command]) => [`  ${style.faint(`# ${what}`)}`, `  ${command}`])];
}

function demoOf(ideas: readonly DemoIdea[], id: string): DemoIdea {
  const idea = ideas.find((known) => known.id === id.toLowerCase());
  if (idea !== undefined) return idea;
  const known = ideas.map((one) => `${one.id} (${one.title})`).join(", ");
  throw new UsageError("DEMO_UNKNOWN", `Expected one of the bundled ideas, ${known}, got "${shown(id, 60)}".`);
}

const AGENT_EXAMPLE = 'Say what to do: troupe agent "List the files here and say what they are"';

export async function agent(session: Session, flags: Flags, ...words: string[]): Promise<ExitCode> {
  const { host, interruptions } = session;
  const source = ideaSource(words, flags.file, { isMeant: true, example: AGENT_EXAMPLE });
  const { model, isConfirmed, ...settings } = (await chosenRun(session, flags)).settings;
  const own = agentSettings(flags, host.cwd);
  const idea = await untilAborted(readIdea(source, host), interruptions.signal);
  if (model.kind === "none") throw noModelSet(model.asked);
  const chosen = await realModel(model.model, settings);
  return begin(session, flags, { settings: { ...settings, agent: own }, idea, name: slugOf(idea), chosen, isConfirmed });
}

async function begin(session: Session, flags: Flags, beginning: Omit<NewRun, "sandbox">): Promise<ExitCode> {
  return (await started(session, flags, beginning)).code;
}

async function started(session: Session, flags: Flags, { settings, chosen, ...rest }: Omit<NewRun, "sandbox">) {
  const worker = workerSettings(settings.crew);
  if (worker !== undefined) await allowWorker(session, worker, flags.allowWorker === true);
  const sandbox = await sandboxFor(session, settings, chosen.isScripted);
  const parts = { settings, chosen, sandbox, idea: rest.idea };
  return inConfirmedFolder(session, { ...parts, ...rest }, (folder) =>
    withStore(session, flags, async (store) => {
      const production = newProduction(session, { ...parts, folder, store });
      return { code: await produce(session, production), runId: production.runId };
    }),
  );
}

function checkMetaGPT({ maxAutoSummarizeCode = "0", projectName, out }: Flags): void {
  if (maxAutoSummarizeCode.trim() !== "0") {
    const why = "code is not summarized: it is run, and what fails is repaired. Only 0 can be said";
    throw new UsageError("OPTION_UNSUPPORTED", `Expected no --max-auto-summarize-code: ${why}.`);
  }
  if (projectName !== undefined && out !== undefined)
    throw conflict("Expected --project-name or --out, which both name the project's folder, got both. Leave one out.");
}

/** The change that `--reqa-file` asks for: the tests of one file are written again. Undefined without that option. */
async function testsAgain(cwd: string, { reqaFile: file, in: folder }: Flags): Promise<string | undefined> {
  if (file === undefined) return undefined;
  if (folder === undefined) throw conflict("Expected --in with --reqa-file, got none. Name the project whose file it is.");
  const root = resolve(cwd, folder);
  for (const path of [resolve(root, file), resolve(cwd, file)]) {
    if (!isInside(root, path) || !(await isFile(path))) continue;
    return `Write the tests of \`${relative(root, path)}\` again, from what the project and its documents say that it does. Every function that it exports has a test that fails when the function is broken. Change nothing but tests, unless a test shows a fault.`;
  }
  const expected = `Expected --reqa-file to be a file of the project, got "${shown(file, 200)}"`;
  throw new UsageError("OPTION_INVALID", `${expected}. Give its path in the project.`);
}

const STORES = ["runs.db", join(".troupe", "runs.db")];

async function recoveredStore(cwd: string, path: string): Promise<string> {
  const named = resolve(cwd, path);
  for (const candidate of [named, ...STORES.map((name) => join(named, name))]) if (await isFile(candidate)) return candidate;
  const expected = `Expected --recover-path to be a store of runs, or a folder with ${STORES.join(" or ")}`;
  throw new UsageError("STORE_MISSING", `${expected}, got "${shown(path, 200)}".`);
}
