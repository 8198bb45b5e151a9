import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import { type MicroUsd, usd } from "../model/money.ts";
import type { Variables } from "./host.ts";
import { type FolderFiles, type ModelChoice, modelChoice, modelsOfRoles, NO_FOLDERS } from "./model-settings.ts";
import { setting, typedName } from "./option-values.ts";
import { oneOf } from "./option-words.ts";
import { AGENT_TOOLS, type CompanyOptions, ENTRIES, type Flags } from "./options.ts";
import { shown } from "./screen/text.ts";

const Strings = z.array(z.string()).readonly();
const ToolSchema: z.ZodType<ToolSpec> = z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.json()) });
const Path = z.string().refine(isAbsolute);

/** A crew of a file, with its content, so that a run that continues needs no file. `use` names the shipped crew that it uses. */
export const FileCrewSchema = z.object({ kind: z.literal("file"), name: z.string(), text: z.string(), use: z.string().optional() });
export type FileCrew = Readonly<z.infer<typeof FileCrewSchema>>;

/** A crew that a module exports, with the sha256 of the module when the run began. */
export const ModuleCrewSchema = z.object({ kind: z.literal("module"), path: Path, hash: z.string() });
export type ModuleCrew = Readonly<z.infer<typeof ModuleCrewSchema>>;

export const AgentSchema = z.object({
  tools: Strings,
  allow: Strings,
  steps: z.int().positive(),
  commit: z.boolean().optional(),
  plan: z.boolean().optional(),
  /** A config of tool servers. It is read each time and never kept: it may hold keys. */
  mcp: Path.optional(),
  /** The tools of those servers when the run began, for a replay, which connects to none. */
  mcpTools: z.array(ToolSchema).readonly().optional(),
  /** Paths with changes of the user's when it began; undefined: unknown. */
  dirty: Strings.optional(),
});
export type AgentSettings = Readonly<z.infer<typeof AgentSchema>>;

export type CrewSettings =
  | ({
      readonly kind: "software-company";
      readonly existing?: boolean | undefined;
      readonly asks?: boolean | undefined;
      readonly isSpec?: boolean | undefined;
    } & CompanyOptions)
  | ({ readonly kind: "waterfall" } & Pick<CompanyOptions, "implement">)
  | FileCrew
  | ModuleCrew;

export type Worker = "company" | "crew" | "agent";

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
  readonly agent?: AgentSettings | undefined;
  /** Tools that a run which continues uses without asking. */
  readonly allowed?: readonly string[] | undefined;
}

export interface RunSettings extends CompanySettings {
  readonly model: ModelChoice;
  readonly isConfirmed: boolean;
}

export const BUILT_IN = ["software-company", "waterfall"] as const;
const DEFAULT_BUDGET = usd(3);
/** A company finishes long before; a debate may never end. */
const DEFAULT_ROUNDS = 20;
/** More than `companyRounds` of `troupe/roles`: the software company ends by itself, and a chain of tasks is not cut off. */
const COMPANY_ROUNDS = 150;
const DEFAULT_STEPS = 30;

export function runSettings(flags: Flags, env: Variables, files: FolderFiles = NO_FOLDERS): RunSettings {
  const models = modelsOfRoles(env, files);
  const company = companySettings(flags, env);
  const wished = files.folders.flatMap(({ budget }) => budget ?? []);
  const budget = Math.min(company.budget, ...wished) as MicroUsd;
  return {
    model: modelChoice(flags, env, files),
    isConfirmed: flags.yes === true,
    ...company,
    budget,
    rounds: Math.min(company.rounds, ...files.folders.flatMap(({ rounds }) => rounds ?? [])),
    isBudgetExplicit: company.isBudgetExplicit || budget < company.budget,
    ...(models === undefined ? {} : { models }),
  };
}

export type OutputSettings = ReturnType<typeof outputSettings>;

export function outputSettings(raw: Readonly<Record<string, unknown>>) {
  return {
    isJson: raw["json"] === true,
    isQuiet: raw["quiet"] === true,
    isVerbose: raw["verbose"] === true,
    isTalk: raw["talk"] === true,
    isColorOff: raw["color"] === false,
  };
}

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

function crewSettings(flags: Flags): CrewSettings {
  const kind = oneOf("--crew", flags.crew ?? "software-company", BUILT_IN);
  const isChange = existingFolder(flags) !== undefined;
  const { own, foreign } = companyOptions(flags, kind);
  const wrong = isChange && kind !== "software-company" ? "--in" : foreign;
  if (wrong !== undefined) throw conflict(`Expected ${wrong} with the crew software-company, got it with ${kind}. Leave it out.`);
  const alone = isChange ? undefined : own.inFolder === true ? "--in-folder" : own.documents === true ? "--documents" : undefined;
  if (alone !== undefined) throw conflict(`Expected ${alone} with --in, got it alone. Name the project: --in <dir>.`);
  return kind === "waterfall" ? { kind, ...own } : { kind, ...own, ...(isChange ? { existing: true } : {}) };
}

function existingFolder({ in: folder, inc, out }: Flags): string | undefined {
  if (folder === undefined && inc === true)
    throw conflict("Expected --project-path with --inc, got none. Name the project that is changed.");
  if (folder === undefined || out === undefined) return folder;
  throw conflict("Expected --in for a project that is changed, or --out for a new one, got both. Leave one out.");
}

export function conflict(text: string): UsageError {
  return new UsageError("OPTION_CONFLICT", text);
}

export function agentSettings(flags: Flags, cwd: string): AgentSettings {
  const { tools, allow, steps = DEFAULT_STEPS, commit = true, plan = false, mcp } = flags;
  const named = tools === undefined ? AGENT_TOOLS : toolNames("--tools", tools, AGENT_TOOLS);
  // The tools of servers are known once they are connected; the names in --allow are checked then.
  const allowed = allow === undefined ? [] : mcp === undefined ? toolNames("--allow", allow, named) : namesIn(allow);
  return { tools: named, allow: allowed, steps, commit, plan, ...(mcp === undefined ? {} : { mcp: resolve(cwd, mcp) }) };
}

function namesIn(text: string): readonly string[] {
  return [...new Set(text.split(",").map((name) => name.trim()))];
}

export function toolNames(option: string, text: string, known: readonly string[]): readonly string[] {
  return knownTools(option, namesIn(text), known);
}

export function knownTools(option: string, names: readonly string[], known: readonly string[]): readonly string[] {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  const expected = `Expected ${option} to name tools of ${known.join(", ")}, with commas between`;
  throw new UsageError("OPTION_INVALID", `${expected}, got "${shown(unknown, 60)}".`);
}
