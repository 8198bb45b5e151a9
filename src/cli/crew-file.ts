import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import { checkCrew, type Crew, type CrewReport, openCrew, readCrew, shippedCrews } from "../../roles/index.ts";
import type { CrewSpec } from "../../roles/crew/crew-spec.ts";
import type { CrewPorts } from "../../roles/crew/open-crew.ts";
import { UsageError } from "../kernel/errors.ts";
import { isObject, isRecord } from "../kernel/value-kind.ts";
import type { Role } from "../role/role.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { teamDifferences, teamDifferenceText } from "../team/team-change.ts";
import { memoryWorkspace } from "../workspace/memory-workspace.ts";
import { refusedSandbox } from "../workspace/sandbox.ts";
import { userConfig } from "./config.ts";
import { type Host, valueIn } from "./host.ts";
import { modelsByRole } from "./model-choice.ts";
import type { ChosenModel, FolderSettings } from "./model-settings.ts";
import { variableOf } from "./option-values.ts";
import type { Flags, OptionName } from "./options.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { BUILT_IN, companyOptions, type CompanySettings, type CrewSettings, type FileCrew, type ModuleCrew } from "./settings.ts";
import { assertInFolder, importedModule, isInside, readText } from "./text-file.ts";

/** The longest crew file and module, in bytes. */
const MOST_BYTES = 256 * 1024;
const DATA_FILE = /\.(ya?ml|json)$/i;
const MODULE = /\.[cm]?[jt]s$/i;
const MOST_FINDINGS = 20;

/** For crews whose roles are only looked at. */
export const NO_PORTS: CrewPorts = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing is run", "") };

/** The flags of a run without its crew; the crew, unless it is one with settings of its own; and what its file asks for. */
export interface AskedCrew {
  readonly flags: Flags;
  readonly crew: FileCrew | ModuleCrew | undefined;
  readonly asks: FolderSettings | undefined;
  readonly models: Readonly<Record<string, string>>;
}

/**
 * Reads the crew that `--crew` names: a shipped one, a file, or a module. The settings of a file of the user's config folder count as the
 * user's, below options and variables.
 */
export async function chosenCrew({ host, settingsFrom }: Pick<Session, "host" | "settingsFrom">, flags: Flags): Promise<AskedCrew> {
  const { crew: word, ...others } = flags;
  if (word === undefined || BUILT_IN.some((name) => name === word)) return { flags, crew: undefined, asks: undefined, models: {} };
  const { foreign: clash } = companyOptions(flags, word);
  if (clash !== undefined) {
    throw new UsageError(
      "OPTION_CONFLICT",
      `Expected ${clash} with the crew software-company, got it with ${shown(word, 80)}. Write it into the file, under with.`,
    );
  }
  const crew = await crewSettingsOf(host, word);
  const { models, model, budget, rounds, use } = await openedCrew(crew, NO_PORTS);
  const chosen = crew.kind === "file" && use !== undefined ? { ...crew, use } : crew;
  if (isFile(word) && !isUsersFile(host, word)) {
    const asks = { file: shown(word, 200), model, roles: models, budget, rounds, widens: await wideningOf(crew) };
    return { flags: others, crew: chosen, asks, models: {} };
  }
  const isSet = (name: string): boolean =>
    flags[name as OptionName] !== undefined || (valueIn(host.env, variableOf(name)) !== undefined && !settingsFrom.has(variableOf(name)));
  const wished = Object.entries({ budget, rounds, model });
  const filled = { ...others, ...Object.fromEntries(wished.filter(([name]) => !isSet(name))) };
  return { flags: filled, crew: chosen, asks: undefined, models };
}

/** True for a file of the user's config folder. */
function isUsersFile({ cwd, env }: Host, path: string): boolean {
  const config = userConfig(env);
  return config !== undefined && isInside(dirname(config), resolve(cwd, path));
}

function isFile(word: string): boolean {
  return MODULE.test(word) || DATA_FILE.test(word);
}

const USUAL_SECONDS = 3_600;

async function wideningOf(crew: FileCrew | ModuleCrew): Promise<readonly string[]> {
  return (await wishesOf(crew)).flatMap(({ name, allow = [], timeout = 0 }) => [
    ...(allow.length === 0 ? [] : [`${name} uses ${allow.join(", ")} without asking`]),
    ...(timeout <= USUAL_SECONDS ? [] : [`${name} may take ${timeout} seconds for one activation, not ${USUAL_SECONDS}`]),
  ]);
}

interface RoleWish {
  readonly name: string;
  readonly allow?: readonly string[] | undefined;
  readonly timeout?: number | undefined;
}

async function wishesOf(crew: FileCrew | ModuleCrew): Promise<readonly RoleWish[]> {
  if (crew.kind === "file") {
    const { roles = [], reserve = [] } = await readCrew(crew.text, crew.name);
    return [...roles, ...reserve];
  }
  const made = await exportedCrew(crew.path, NO_PORTS);
  if (isMadeCrew(made)) return [...made.roles, ...(made.reserve ?? [])].map(wishOf);
  const { roles = [], reserve = [] } = made as CrewSpec;
  return [...roles, ...reserve];
}

function wishOf({ name, timeout, agent }: Role): RoleWish {
  const { default: others, rules = [] } = agent?.permissions ?? {};
  const allowed = rules.flatMap(({ tool, decide }) => (decide === "allow" ? [tool] : []));
  return { name, timeout: timeout / 1_000, allow: others === "allow" ? [...allowed, "all other tools"] : allowed };
}

/** The settings of a crew that is no company with settings of its own. */
async function crewSettingsOf(host: Host, word: string): Promise<FileCrew | ModuleCrew> {
  const shipped = shippedCrews().map(({ name }) => name);
  if (shipped.includes(word)) return { kind: "file", name: word, text: `use: ${word}\n` };
  if (isFile(word) && !isUsersFile(host, word)) await assertInFolder(host, word);
  if (MODULE.test(word)) {
    const path = resolve(host.cwd, word);
    return { kind: "module", path, hash: hashOf(await readText(host, word, "the crew", MOST_BYTES)) };
  }
  if (DATA_FILE.test(word)) return { kind: "file", name: word, text: await readText(host, word, "the crew", MOST_BYTES) };
  const known = [...new Set<string>([...BUILT_IN, ...shipped])].join(", ");
  throw new UsageError(
    "CREW_UNKNOWN",
    `Expected --crew to be one of ${known}, or a file such as company.yaml or crew.mjs, got "${shown(word, 80)}".`,
  );
}

export async function openedCrew(crew: FileCrew | ModuleCrew, ports: CrewPorts): Promise<Crew> {
  if (crew.kind === "file") return openCrew(await readCrew(crew.text, crew.name), ports);
  const made: unknown = await exportedCrew(crew.path, ports);
  if (isMadeCrew(made)) {
    const { name = "crew", roles, reserve = [], budget, rounds, model, models = {}, output } = made;
    return { name, roles, reserve, budget, rounds, model, models, output };
  }
  return openCrew(made as CrewSpec, ports);
}

async function exportedCrew(path: string, ports: CrewPorts): Promise<unknown> {
  const exported = await importedModule(path, "a module with a crew", "CREW_INVALID");
  const crew: unknown = exported["crew"] ?? exported["default"];
  if (crew === undefined)
    throw new UsageError(
      "CREW_INVALID",
      `Expected ${shown(path, 200)} to export a crew, got none. Write: export const crew = { ... }, or a function that returns it.`,
    );
  return typeof crew === "function" ? ((await (crew as (ports: CrewPorts) => unknown)(ports)) as unknown) : crew;
}

/** True for a crew with roles that a program made. */
function isMadeCrew(made: unknown): made is Partial<Crew> & Pick<Crew, "roles"> {
  if (!isRecord(made) || !Array.isArray(made["roles"]) || made["roles"].length === 0) return false;
  return (made["roles"] as readonly unknown[]).every((role) => isObject(role) && typeof (role as Partial<Role>).react === "function");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Refuses to continue a crew whose module has changed since the run began, and reports how its roles differ. */
export async function assertSameModule(host: Host, crew: CrewSettings, { roles }: Pick<RunState, "roles">): Promise<void> {
  if (crew.kind !== "module" || hashOf(await readText(host, crew.path, "the crew", MOST_BYTES)) === crew.hash) return;
  const now = await openedCrew(crew, NO_PORTS);
  const hired = now.roles.map((role) => [role.name, role] as const);
  const found = teamDifferences(roles.values(), { roles: hired, budget: undefined, pools: [], limits: undefined });
  const how =
    found.length === 0
      ? "Its roles listen and act as before; prompts or code may differ"
      : found.map((one) => shown(teamDifferenceText(one), 500)).join("; ");
  const expected = `Expected ${shown(crew.path, 200)} as it was when the run began, but it has changed`;
  throw new UsageError("CREW_CHANGED", `${expected}. ${how}. Continue all the same: --force`, { data: { differences: found } });
}

export async function outputOf(crew: CrewSettings): Promise<readonly string[] | undefined> {
  return crew.kind === "file" || crew.kind === "module" ? (await openedCrew(crew, NO_PORTS)).output : undefined;
}

export async function crewReport(
  crew: FileCrew | ModuleCrew,
  { budget, rounds, allowUnpriced, models = {} }: Pick<CompanySettings, "budget" | "rounds" | "allowUnpriced" | "models">,
  chosen: Pick<ChosenModel, "model" | "modelOf">,
): Promise<CrewReport> {
  const { roles, reserve, output } = await openedCrew(crew, NO_PORTS);
  const byRole = modelsByRole([...roles, ...reserve], models, chosen.modelOf);
  return checkCrew({ roles, reserve, output, budget, rounds, allowUnpriced, model: chosen.model, models: byRole });
}

export async function assertSound(
  session: Session,
  crew: FileCrew | ModuleCrew,
  settings: CompanySettings,
  chosen: ChosenModel,
): Promise<void> {
  const { faults, warnings } = await crewReport(crew, settings, chosen);
  const { screen } = session;
  for (const { message } of warnings.slice(0, MOST_FINDINGS)) screen.say(screen.style.warn(shown(message, 1_000)));
  if (faults.length === 0) return;
  const texts = faults.slice(0, MOST_FINDINGS).map(({ message }) => shown(message, 1_000));
  throw new UsageError(
    "CREW_FAULTY",
    `Expected a crew that can work, got one with ${faults.length === 1 ? "a fault" : `${faults.length} faults`}: ${texts.join(" ")}`,
    {
      data: { faults: faults.map(({ code, message }) => ({ code, message })) },
    },
  );
}
