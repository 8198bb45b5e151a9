import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import { checkCrew, type Crew, type CrewReport, openCrew, openWorkflow, readCrew, shippedCrews } from "../../roles/index.ts";
import { type CrewSpec, PROCESSES } from "../../roles/crew/crew-spec.ts";
import type { CrewPorts } from "../../roles/crew/open-crew.ts";
import { isWorkflow } from "../checks/workflow-script.ts";
import { AbortedError, UsageError } from "../kernel/errors.ts";
import { isObject, isRecord, mapped } from "../kernel/value-kind.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { formatUsd, type MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import { memoryWorkspace } from "../workspace/memory-workspace.ts";
import { refusedSandbox } from "../workspace/sandbox.ts";
import { userConfig } from "./config.ts";
import { canAsk, type Host, valueIn } from "./host.ts";
import { modelsByRole } from "./model-choice.ts";
import { type ChosenModel, type FolderSettings, namedModels } from "./model-settings.ts";
import { setting, variableOf } from "./option-values.ts";
import type { Flags, OptionName } from "./options.ts";
import { agrees } from "./prompt.ts";
import { plural, shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import {
  BUILT_IN,
  companyOptions,
  type CompanySettings,
  companySettings,
  conflict,
  type CrewSettings,
  type FileCrew,
  type ModuleCrew,
  type RunSettings,
  runSettings,
} from "./settings.ts";
import { assertInFolder, importedModule, isInside, readText } from "./text-file.ts";

const MAX_BYTES = 256 * 1024;
const DATA_FILE = /\.(ya?ml|json)$/i;
const MODULE = /\.[cm]?[jt]s$/i;
const MAX_FINDINGS = 20;
const USUAL_MS = 3_600_000;

export const NO_PORTS: CrewPorts = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing is run", "") };

/** The settings of a file in the user's config folder count as the user's, below options and variables. */
async function chosenCrew({ host, settingsFrom }: Pick<Session, "host" | "settingsFrom">, flags: Flags) {
  const { crew: word, ...others } = flags;
  if (word === undefined || BUILT_IN.some((name) => name === word)) return { flags, crew: undefined, asks: undefined, models: {} };
  const { foreign } = companyOptions(flags, word);
  if (foreign !== undefined)
    throw conflict(
      `Expected ${foreign} with the crew software-company, got it with ${shown(word, 80)}. Write it into the file, under with.`,
    );
  const crew = await crewSettingsOf(host, word);
  const { models, model, budget, rounds, use, own } = await openedCrew(crew, NO_PORTS);
  const chosen = crew.kind === "file" && use !== undefined ? { ...crew, use } : crew;
  if (isFile(word) && !isUsersFile(host, word)) {
    const widens = own.flatMap(wideningOf);
    return { flags: others, crew: chosen, asks: { file: shown(word, 200), model, roles: models, budget, rounds, widens }, models: {} };
  }
  const isSet = (name: string): boolean =>
    flags[name as OptionName] !== undefined || (valueIn(host.env, variableOf(name)) !== undefined && !settingsFrom.has(variableOf(name)));
  const wished = Object.entries({ budget, rounds, model }).filter(([name]) => !isSet(name));
  return { flags: { ...others, ...Object.fromEntries(wished) }, crew: chosen, asks: undefined, models };
}

function isUsersFile({ cwd, env }: Host, path: string): boolean {
  const config = userConfig(env);
  return config !== undefined && isInside(dirname(config), resolve(cwd, path));
}

function isFile(word: string): boolean {
  return MODULE.test(word) || DATA_FILE.test(word);
}

function wideningOf({ name, timeout, agent }: Role): readonly string[] {
  const { default: others, rules = [] } = agent?.permissions ?? {};
  const allowed = rules.flatMap(({ tool, decide }) => (decide === "allow" ? [tool] : []));
  const free = others === "allow" ? [...allowed, "all other tools"] : allowed;
  return [
    ...(free.length === 0 ? [] : [`${name} uses ${free.join(", ")} without asking`]),
    ...(timeout <= USUAL_MS ? [] : [`${name} may take ${timeout / 1_000} seconds for one activation, not ${USUAL_MS / 1_000}`]),
  ];
}

async function crewSettingsOf(host: Host, word: string): Promise<FileCrew | ModuleCrew> {
  const shipped = shippedCrews().map(({ name }) => name);
  if (PROCESSES.some((name) => name === word)) return { kind: "file", name: word, text: `process: ${word}\n` };
  if (shipped.includes(word)) return { kind: "file", name: word, text: `use: ${word}\n` };
  if (isFile(word)) {
    if (!isUsersFile(host, word)) await assertInFolder(host, word);
    const text = await readText(host, word, "the crew", MAX_BYTES);
    if (MODULE.test(word) && !isWorkflow(text)) return { kind: "module", path: resolve(host.cwd, word), hash: hashOf(text) };
    return { kind: "file", name: word, text };
  }
  const known = [...new Set<string>([...BUILT_IN, ...shipped, ...PROCESSES])].join(", ");
  const expected = `Expected --crew to be one of ${known}, or a file such as company.yaml or crew.mjs`;
  throw new UsageError("CREW_UNKNOWN", `${expected}, got "${shown(word, 80)}".`);
}

interface OpenedCrew extends Crew {
  readonly own: readonly Role[];
}

/** The tools of the agents of a workflow. Those that write or run ask a person. */
const WORKFLOW_TOOLS = ["shell", "editor", "file_search", "look", "web_fetch", "web_search"] as const;

export async function openedCrew(
  crew: FileCrew | ModuleCrew,
  ports: CrewPorts,
  models: Readonly<Record<string, ChatModel>> = {},
): Promise<OpenedCrew> {
  if (crew.kind === "file" && isWorkflow(crew.text)) {
    const opened = await openWorkflow(crew.text, { ...ports, file: crew.name, tools: WORKFLOW_TOOLS, models });
    return { ...opened, own: opened.roles };
  }
  if (crew.kind === "file") return crewOfSpec(await readCrew(crew.text, crew.name), ports);
  const exported = await importedModule(crew.path, "a module with a crew", "CREW_INVALID");
  const found: unknown = exported["crew"] ?? exported["default"];
  if (found === undefined) {
    const expected = `Expected ${shown(crew.path, 200)} to export a crew, got none`;
    throw new UsageError("CREW_INVALID", `${expected}. Write: export const crew = { ... }, or a function that returns it.`);
  }
  const made: unknown = typeof found === "function" ? await (found as (ports: CrewPorts) => unknown)(ports) : found;
  if (!isMadeCrew(made)) return crewOfSpec(made as CrewSpec, ports);
  const { name = "crew", roles, reserve = [], budget, rounds, model, models: ofRoles = {}, output } = made;
  return { name, roles, reserve, budget, rounds, model, models: ofRoles, output, own: [...roles, ...reserve] };
}

function crewOfSpec(spec: CrewSpec, ports: CrewPorts): OpenedCrew {
  const crew = openCrew(spec, ports);
  const shipped = crew.roles.length - (spec.roles ?? []).length;
  return { ...crew, own: [...crew.roles.slice(shipped), ...crew.reserve] };
}

function isMadeCrew(made: unknown): made is Partial<Crew> & Pick<Crew, "roles"> {
  if (!isRecord(made) || !Array.isArray(made["roles"]) || made["roles"].length === 0) return false;
  return (made["roles"] as readonly unknown[]).every((role) => isObject(role) && typeof (role as Partial<Role>).react === "function");
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

export async function assertSameModule(host: Host, crew: CrewSettings): Promise<void> {
  if (crew.kind !== "module" || hashOf(await readText(host, crew.path, "the crew", MAX_BYTES)) === crew.hash) return;
  const expected = `Expected ${shown(crew.path, 200)} as it was when the run began, but it has changed`;
  throw new UsageError("CREW_CHANGED", `${expected}. Continue all the same: --force`);
}

export async function outputOf(crew: CrewSettings): Promise<readonly string[] | undefined> {
  return crew.kind === "file" || crew.kind === "module" ? (await openedCrew(crew, NO_PORTS)).output : undefined;
}

export async function crewReport(
  crew: FileCrew | ModuleCrew,
  { budget, rounds, allowUnpriced, models = {} }: Pick<CompanySettings, "budget" | "rounds" | "allowUnpriced" | "models">,
  chosen: Pick<ChosenModel, "model" | "modelOf">,
): Promise<CrewReport> {
  const { roles, reserve, output } = await openedCrew(crew, NO_PORTS, mapped(models, chosen.modelOf));
  const byRole = modelsByRole([...roles, ...reserve], models, chosen.modelOf);
  return checkCrew({ roles, reserve, output, budget, rounds, allowUnpriced, model: chosen.model, models: byRole });
}

export function boundsLine({ calls, cost }: Pick<CrewReport, "calls" | "cost">, budget: MicroUsd): string {
  const most = cost === undefined ? "nothing bounds the cost" : `at most ${formatUsd(cost)}`;
  const by = cost === budget ? " by its budget" : "";
  return `${calls === undefined ? "The calls are not bounded" : `At most ${plural(calls, "call")}`}; ${most}${by}.`;
}

export async function assertSound(
  { screen }: Session,
  crew: FileCrew | ModuleCrew,
  settings: CompanySettings,
  chosen: ChosenModel,
): Promise<void> {
  const { faults, warnings, ...bounds } = await crewReport(crew, settings, chosen);
  if (crew.kind === "file" && isWorkflow(crew.text)) screen.say(boundsLine(bounds, settings.budget));
  for (const { message } of warnings.slice(0, MAX_FINDINGS)) screen.say(screen.style.warn(shown(message, 1_000)));
  if (faults.length === 0) return;
  const texts = faults.slice(0, MAX_FINDINGS).map(({ message }) => shown(message, 1_000));
  const count = faults.length === 1 ? "a fault" : `${faults.length} faults`;
  throw new UsageError("CREW_FAULTY", `Expected a crew that can work, got one with ${count}: ${texts.join(" ")}`, {
    data: { faults: faults.map(({ code, message }) => ({ code, message })) },
  });
}

export async function chosenRun(session: Session, flags: Flags) {
  const { host, screen } = session;
  const { notes, widens, ...chosen } = await wishedRun(session, flags);
  for (const note of notes) screen.say(screen.style.warn(shown(note)));
  if (widens.length === 0) return chosen;
  if (!canAsk(host)) {
    const wishes = widens.map((text) => shown(text, 300)).join("; ");
    const advice =
      "Name the models under models in ~/.config/troupe/config.yaml, or put the crew's file into that folder. At a terminal you are asked";
    throw new UsageError("FOLDER_ASKS", `Expected a run within your own settings, but a folder asks for more: ${wishes}. ${advice}.`);
  }
  screen.print([screen.style.strong("This folder asks for more than you said:"), ...widens.map((text) => `  ${shown(text, 300)}`)]);
  if (!(await agrees(session, "Allow it for this run?"))) throw new AbortedError("it was not allowed, and nothing was started");
  return chosen;
}

export async function wishedRun({ host, settingsFrom: from, folder }: Session, given: Flags) {
  const { flags, crew, asks, models } = await chosenCrew({ host, settingsFrom: from }, given);
  const folders = [asks, folder].filter((one) => one !== undefined);
  const own = runSettings(flags, host.env, { folders, from });
  const settings: RunSettings = crew === undefined ? own : { ...own, crew, models: { ...own.models, ...models } };
  const named = namedModels(flags, host.env);
  const main = settings.model.kind === "model" && !named.main.has(settings.model.model.id) ? [settings.model.model.id] : [];
  const users = new Set([...named.all, ...Object.values(models)]);
  const others = Object.values(settings.models ?? {}).filter((id) => !users.has(id));
  const company = companySettings(flags, host.env);
  const isLimited = setting("rounds", flags, host.env) !== undefined;
  return {
    settings,
    crew,
    notes: folders.flatMap(({ file, budget, rounds }) => [
      ...boundNote(file, [budget, company.budget, settings.budget], company.isBudgetExplicit, (usd) => `a budget of ${formatUsd(usd)}`),
      ...boundNote(file, [rounds, company.rounds, settings.rounds], isLimited, (count) => `${count} rounds`),
    ]),
    widens: [
      ...new Set([...main, ...others].map((id) => `${fileOf(id, folders)}: the model ${id}`)),
      ...folders.flatMap(({ file, widens = [] }) => widens.map((text) => `${file}: ${text}`)),
    ],
  };
}

function fileOf(id: string, folders: readonly FolderSettings[]): string {
  return folders.find(({ model, roles = {} }) => model === id || Object.values(roles).includes(id))?.file ?? "";
}

function boundNote<N extends number>(
  file: string,
  [wished, own, held]: readonly [wished: N | undefined, own: N, held: N],
  isGiven: boolean,
  text: (value: N) => string,
): readonly string[] {
  if (wished === undefined) return [];
  if (wished > own) return [`${file} asks for ${text(wished)}, but a folder raises no bound: it stays at ${text(held)}.`];
  return isGiven && wished < own && wished === held ? [`${file} lowers your bound to ${text(held)}.`] : [];
}
