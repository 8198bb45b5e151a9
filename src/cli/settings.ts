import { resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import { type MicroUsd, usd } from "../model/money.ts";
import type { Variables } from "./host.ts";
import { type FolderFiles, lowest, type ModelChoice, modelChoice, modelsOfRoles, NO_FOLDERS } from "./model-settings.ts";
import { oneOf, setting, typedName } from "./option-values.ts";
import { type CompanyOptions, ENTRIES, type Flags } from "./options.ts";
import { AGENT_TOOLS } from "./run-options.ts";
import { shown } from "./screen/text.ts";

export interface OutputSettings {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  readonly isColorOff: boolean;
}

/** The crew that works, with its own settings. They are kept with its run. */
export type CrewSettings =
  | ({
      readonly kind: "software-company";
      /** It changes the project that is there. */
      readonly existing?: boolean | undefined;
      /** A person can be asked what the words leave open. */
      readonly asks?: boolean | undefined;
    } & CompanyOptions)
  | ({ readonly kind: "waterfall" } & Pick<CompanyOptions, "implement">)
  | FileCrew
  | ModuleCrew;

/** The kind of crew: a company that makes a product, a crew of a file, or one agent. */
export type Worker = "company" | "crew" | "agent";

/** A crew of a file, with the file's text: a run that continues needs no file. */
export interface FileCrew {
  readonly kind: "file";
  /** Its path as the user typed it, or the name of a shipped crew. */
  readonly name: string;
  readonly text: string;
  /** The shipped crew that it uses. */
  readonly use?: string | undefined;
}

/** A crew that a module exports. */
export interface ModuleCrew {
  readonly kind: "module";
  /** Absolute. */
  readonly path: string;
  /** sha256 of its text when the run began. */
  readonly hash: string;
}

/** The settings of a company, except its model. */
export interface CompanySettings {
  readonly budget: MicroUsd;
  /** True when the user gave the amount; the default binds priced models only. */
  readonly isBudgetExplicit: boolean;
  readonly allowUnpriced: boolean;
  readonly rounds: number;
  /** The folder the user named; undefined: one is found. */
  readonly out: string | undefined;
  readonly force: boolean;
  readonly seed: string | undefined;
  readonly sandbox: NonNullable<Flags["sandbox"]>;
  readonly codeReview: boolean;
  readonly runTests: boolean;
  readonly crew: CrewSettings;
  /** Ids of models by the names of roles. Default: the model of the run. */
  readonly models?: Readonly<Record<string, string>> | undefined;
  /** One agent works instead of the company. */
  readonly agent?: AgentSettings | undefined;
  /** Tools that a run which continues uses without asking. */
  readonly allowed?: readonly string[] | undefined;
}

export interface RunSettings extends CompanySettings {
  readonly model: ModelChoice;
  readonly isConfirmed: boolean;
}

/** The settings of `troupe agent`. They are kept with its run. */
export interface AgentSettings {
  readonly tools: readonly string[];
  /** Names of the tools that run without asking. */
  readonly allow: readonly string[];
  readonly steps: number;
  /** Default true. */
  readonly commit?: boolean | undefined;
  /** Default false. */
  readonly plan?: boolean | undefined;
  /** Absolute path of a config of tool servers. It is read each time and never kept: it may hold keys. */
  readonly mcp?: string | undefined;
  /** The tools of those servers when the run began, for a replay, which connects to none. */
  readonly mcpTools?: readonly ToolSpec[] | undefined;
  /** Paths with changes of the user's when it began; undefined: not known. */
  readonly dirty?: readonly string[] | undefined;
}

/** The crews with settings of their own. */
export const BUILT_IN = ["software-company", "waterfall"] as const;
const DEFAULT_BUDGET = usd(3);
/** A company finishes long before; a debate that never ends does not. */
const DEFAULT_ROUNDS = 20;
/** More than `companyRounds` of `troupe/roles`: the software company ends by itself, and a chain of tasks is not cut off. */
const COMPANY_ROUNDS = 60;
const DEFAULT_STEPS = 30;

/** The settings of a new run: by its options, else by the environment, within the bounds of folders. */
export function runSettings(flags: Flags, env: Variables, files: FolderFiles = NO_FOLDERS): RunSettings {
  const models = modelsOfRoles(env, files);
  const company = companySettings(flags, env);
  const budget = lowest(
    company.budget,
    files.folders.map((folder) => folder.budget),
  );
  const rounds = lowest(
    company.rounds,
    files.folders.map((folder) => folder.rounds),
  );
  return {
    model: modelChoice(flags, env, files),
    isConfirmed: flags.yes === true,
    ...company,
    ...{ budget, rounds },
    isBudgetExplicit: company.isBudgetExplicit || budget < company.budget,
    ...(models === undefined ? {} : { models }),
  };
}

export function outputSettings(raw: Readonly<Record<string, unknown>>): OutputSettings {
  return {
    isJson: raw["json"] === true,
    isQuiet: raw["quiet"] === true,
    isVerbose: raw["verbose"] === true,
    isColorOff: raw["color"] === false,
  };
}

/** @param env of a new run; a run that continues has its own bounds */
export function companySettings(flags: Flags, env: Variables = {}): CompanySettings {
  const budget = setting("budget", flags, env);
  const crew = crewSettings(flags);
  return {
    budget: budget ?? DEFAULT_BUDGET,
    isBudgetExplicit: budget !== undefined,
    allowUnpriced: flags.allowUnpriced === true,
    rounds: setting("rounds", flags, env) ?? (crew.kind === "software-company" ? COMPANY_ROUNDS : DEFAULT_ROUNDS),
    out: existingFolder(flags) ?? flags.out,
    force: flags.force === true,
    seed: flags.seed,
    sandbox: setting("sandbox", flags, env) ?? "auto",
    codeReview: flags.codeReview !== false,
    runTests: flags.runTests !== false,
    crew,
  };
}

/** The options of the software company that were given, and the first of them that another crew does not have. */
export function companyOptions(flags: Flags, crew?: string): { readonly own: CompanyOptions; readonly foreign: string | undefined } {
  const given = Object.entries(flags).filter(([name, value]) => {
    const isDefault = value === undefined || (name === "implement" && value === true);
    return ENTRIES[name]?.crews !== undefined && !isDefault;
  });
  const [foreign] = given.filter(([name]) => crew !== undefined && !ENTRIES[name]?.crews?.some((one) => one === crew));
  return { own: Object.fromEntries(given), foreign: foreign && typedName(...foreign) };
}

/** @throws UsageError `OPTION_INVALID`, `OPTION_CONFLICT` for an option that the crew does not have */
function crewSettings(flags: Flags): CrewSettings {
  const kind = oneOf("--crew", flags.crew ?? "software-company", BUILT_IN);
  const isChange = existingFolder(flags) !== undefined;
  const { own, foreign } = companyOptions(flags, kind);
  if (isChange && kind !== "software-company")
    throw conflict(`Expected --in with the crew software-company, got it with ${kind}, which makes new projects only.`);
  if (foreign !== undefined)
    throw conflict(`Expected ${foreign} with the crew software-company, got it with ${kind}, which has one way. Leave it out.`);
  return kind === "waterfall" ? { kind, ...own } : { kind, ...own, ...(isChange ? { existing: true } : {}) };
}

/**
 * The folder of a project that is changed; undefined for a new project.
 *
 * @throws UsageError `OPTION_CONFLICT`
 */
function existingFolder({ in: folder, inc, out }: Flags): string | undefined {
  if (folder === undefined && inc === true)
    throw conflict("Expected --project-path with --inc, got none. Name the project that is changed.");
  if (folder === undefined || out === undefined) return folder;
  throw conflict("Expected --in for a project that is changed, or --out for a new one, got both. Leave one out.");
}

function conflict(text: string): UsageError {
  return new UsageError("OPTION_CONFLICT", text);
}

/** The settings of an agent. @param cwd base of the config's path @throws UsageError `OPTION_INVALID` */
export function agentSettings(flags: Flags, cwd: string): AgentSettings {
  const { tools, allow, steps = DEFAULT_STEPS, commit = true, plan = false, mcp } = flags;
  const named = tools === undefined ? AGENT_TOOLS : toolNames("--tools", tools, AGENT_TOOLS);
  // The tools of servers are known when they are connected; the names in --allow are checked then.
  const allowed = allow === undefined ? [] : mcp === undefined ? toolNames("--allow", allow, named) : namesIn(allow);
  return { tools: named, allow: allowed, steps, commit, plan, ...(mcp === undefined ? {} : { mcp: resolve(cwd, mcp) }) };
}

function namesIn(text: string): readonly string[] {
  return [...new Set(text.split(",").map((name) => name.trim()))];
}

/** The names of an option, each one of `known`. @throws UsageError `OPTION_INVALID` */
export function toolNames(option: string, text: string, known: readonly string[]): readonly string[] {
  const names = namesIn(text);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  const expected = `Expected ${option} to name tools of ${known.join(", ")}, with commas between`;
  throw new UsageError("OPTION_INVALID", `${expected}, got "${shown(unknown, 60)}".`);
}
