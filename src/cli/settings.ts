import { resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import { aliased, dollars, nonEmpty, oneOf, wholeNumber } from "./option-values.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import { type MicroUsd, usd } from "../model/money.ts";
import type { StackName } from "../checks/stacks.ts";
import type { SandboxMode } from "../workspace/sandbox.ts";
import { AGENT_TOOLS, OPTION_WORDS } from "./command-options.ts";
import type { MetaGPTFlags } from "./metagpt-options.ts";
import { type FolderFiles, lowest, NO_FOLDERS } from "./folder-settings.ts";
import { shown } from "./screen/text.ts";
import type { ExperimentFlags } from "./experiment-options.ts";
import type { FleetFlags } from "./fleet-options.ts";
import { type ModelChoice, modelChoice, type ModelFlags, modelsOfRoles } from "./model-settings.ts";
import type { ServeFlags } from "./serve-options.ts";
import { valueIn, type Variables } from "./variables.ts";

/** Options as the command line gives them: unchecked texts. */
export interface Flags extends ModelFlags, MetaGPTFlags, ServeFlags, FleetFlags, ExperimentFlags {
  readonly file?: string;
  readonly budget?: string;
  readonly investment?: string;
  readonly rounds?: string;
  readonly nRound?: string;
  readonly out?: string;
  readonly allowUnpriced?: boolean;
  readonly seed?: string;
  readonly reuse?: string;
  readonly sandbox?: string;
  readonly codeReview?: boolean;
  readonly runTests?: boolean;
  /** Of the company. */
  readonly in?: string;
  readonly crew?: string;
  readonly size?: string;
  readonly approve?: string;
  readonly allowInstall?: boolean;
  readonly stack?: string;
  readonly force?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  readonly color?: boolean;
  readonly verbose?: boolean;
  readonly ping?: boolean;
  readonly store?: string;
  readonly as?: string;
  readonly olderThan?: string;
  readonly cost?: string;
  /** Of `troupe runs forget`. */
  readonly user?: string;
  readonly tenant?: string;
  readonly conversation?: string;
  readonly memory?: string;
  /** Of `troupe agent`. */
  readonly tools?: string;
  readonly allow?: string;
  readonly steps?: string;
  readonly commit?: boolean;
  readonly plan?: boolean;
  readonly mcp?: string;
  /** Of `troupe fork`. */
  readonly at?: string;
  readonly edit?: readonly string[];
  readonly drop?: readonly string[];
  readonly add?: readonly string[];
  /** Of `troupe tell`. */
  readonly to?: string;
  /** Of `troupe inspect`. */
  readonly port?: string;
  /** Of `troupe runs events` and `troupe runs flow`. */
  readonly from?: string;
  readonly type?: string;
  readonly format?: string;
  /** Of `troupe runs export`. */
  readonly otlp?: string;
  readonly html?: string;
  readonly content?: boolean;
  /** Of `troupe check`. */
  readonly determinism?: boolean;
  /** Of `troupe runs check`. */
  readonly allRoles?: boolean;
  /** Of `troupe memory search` and `troupe memory show`. */
  readonly role?: string;
  readonly limit?: string;
  readonly run?: string;
  readonly last?: string;
  /** Of `troupe runs ls`, with `limit`. */
  readonly after?: string;
}

export interface OutputSettings {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  /** True when `--no-color` was given. */
  readonly isColorOff: boolean;
}

/** The crew that works, with its own settings. */
export type CrewSettings =
  | {
      readonly kind: "software-company";
      readonly size?: "S" | "M" | "L" | undefined;
      readonly stack?: StackName | undefined;
      /** It changes the project that is there. */
      readonly existing?: true | undefined;
      /** A person approves the criteria, or the design. */
      readonly approve?: "prd" | "plan" | undefined;
      /** Packages may be installed. */
      readonly allowInstall?: true | undefined;
      /** A person can be asked what the words leave open. */
      readonly asks?: true | undefined;
      /** It ends with the criteria and the design. */
      readonly implement?: false | undefined;
    }
  | { readonly kind: "waterfall"; readonly implement?: false | undefined }
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
  readonly sandbox: SandboxMode;
  readonly codeReview: boolean;
  readonly runTests: boolean;
  readonly crew: CrewSettings;
  /** Ids of models by the names of roles. Default: the model of the run. */
  readonly models?: Readonly<Record<string, string>> | undefined;
  /** One agent works instead of the company. */
  readonly agent?: AgentSettings | undefined;
  /** Tools that a run which goes on uses without asking. */
  readonly allowed?: readonly string[] | undefined;
}

export interface RunSettings extends CompanySettings {
  readonly model: ModelChoice;
  readonly isConfirmed: boolean;
}

/** The settings of `troupe agent`. Kept with its run. */
export interface AgentSettings {
  /** Names of its tools. */
  readonly tools: readonly string[];
  /** Names of those that run without asking. */
  readonly allow: readonly string[];
  readonly steps: number;
  /** Commits its changes where it works in a repository. Default true. */
  readonly commit?: boolean | undefined;
  /** Makes a plan first and lets an agent do each of its steps. Default false. */
  readonly plan?: boolean | undefined;
  /** Absolute path of a config of tool servers. It is read each time and never kept: it may hold keys. */
  readonly mcp?: string | undefined;
  /** The tools of those servers when the run began, for a replay, which connects to none. */
  readonly mcpTools?: readonly ToolSpec[] | undefined;
  /** Paths with changes of the user's when it began; undefined: not known. */
  readonly dirty?: readonly string[] | undefined;
}

/** Dollars that a run of a priced model may cost by default. */
const DEFAULT_BUDGET = "3";
/** A company finishes long before; a debate that never ends does not. */
const DEFAULT_ROUNDS = "20";
/** More than `companyRounds` of `troupe/roles`: the software company ends by itself, and a chain of tasks is not cut off. */
const COMPANY_ROUNDS = "60";
const DEFAULT_STEPS = "30";
const MOST_ROUNDS = 100_000;
const MOST_STEPS = 1_000;
/** The settings of a new run: by its options, else by the environment, within the bounds of folders. @throws UsageError `OPTION_INVALID`, `OPTION_CONFLICT` */
export function runSettings(flags: Flags, env: Variables, files: FolderFiles = NO_FOLDERS): RunSettings {
  const models = modelsOfRoles(env, files);
  const company = companySettings(flags, env);
  const bounds = {
    budget: lowest(
      company.budget,
      files.folders.map(({ budget }) => budget),
    ),
    rounds: lowest(
      company.rounds,
      files.folders.map(({ rounds }) => rounds),
    ),
  };
  return {
    model: modelChoice(flags, env, files),
    isConfirmed: flags.yes === true,
    ...company,
    ...bounds,
    isBudgetExplicit: company.isBudgetExplicit || bounds.budget < company.budget,
    ...(models === undefined ? {} : { models }),
  };
}

export function outputSettings(flags: Flags): OutputSettings {
  return {
    isJson: flags.json === true,
    isQuiet: flags.quiet === true,
    isVerbose: flags.verbose === true,
    isColorOff: flags.color === false,
  };
}

/** @param env of a new run; a run that continues has its own bounds */
export function companySettings(flags: Flags, env: Variables = {}): CompanySettings {
  const budget = aliased("--budget", flags.budget, "--investment", flags.investment) ?? valueIn(env, "TROUPE_BUDGET");
  const rounds = aliased("--rounds", flags.rounds, "--n-round", flags.nRound) ?? valueIn(env, "TROUPE_ROUNDS");
  const crew = crewSettings(flags);
  const usualRounds = crew.kind === "software-company" ? COMPANY_ROUNDS : DEFAULT_ROUNDS;
  return {
    budget: usd(dollars(budget ?? DEFAULT_BUDGET)),
    isBudgetExplicit: budget !== undefined,
    allowUnpriced: flags.allowUnpriced === true,
    rounds: wholeNumber("--rounds", rounds ?? usualRounds, MOST_ROUNDS),
    out: existingFolder(flags) ?? nonEmpty("--out", flags.out, "a folder"),
    force: flags.force === true,
    seed: nonEmpty("--seed", flags.seed, "a word or a number"),
    sandbox: oneOf("--sandbox", flags.sandbox ?? valueIn(env, "TROUPE_SANDBOX") ?? "auto", OPTION_WORDS["--sandbox"]),
    codeReview: flags.codeReview !== false,
    runTests: flags.runTests !== false,
    crew,
  };
}

/** @throws UsageError `OPTION_INVALID`, `OPTION_CONFLICT` for an option that the crew does not have */
function crewSettings(flags: Flags): CrewSettings {
  const { crew = "software-company", size, stack, implement, approve } = flags;
  const kind = oneOf("--crew", crew, OPTION_WORDS["--crew"]);
  const isChange = existingFolder(flags) !== undefined;
  if (isChange && kind !== "software-company") {
    throw new UsageError(
      "OPTION_CONFLICT",
      `Expected --in with the crew software-company, got it with ${kind}, which makes new projects only.`,
    );
  }
  if (kind === "waterfall") {
    const given = { "--size": size, "--stack": stack, "--approve": approve, "--allow-install": flags.allowInstall };
    const [other] = Object.entries(given).flatMap(([option, value]) => (value === undefined ? [] : [option]));
    if (other === undefined) return implement === false ? { kind, implement } : { kind };
    throw new UsageError(
      "OPTION_CONFLICT",
      `Expected ${other} with the crew software-company, got it with waterfall, which has one way. Leave it out.`,
    );
  }
  return {
    kind,
    ...(size === undefined ? {} : { size: oneOf("--size", size.toUpperCase(), OPTION_WORDS["--size"]) }),
    ...(stack === undefined ? {} : { stack: oneOf("--stack", stack, OPTION_WORDS["--stack"]) }),
    ...(isChange ? { existing: true } : {}),
    ...(implement === false ? { implement } : {}),
    ...(flags.allowInstall === true ? { allowInstall: true } : {}),
    ...(approve === undefined ? {} : { approve: oneOf("--approve", approve, OPTION_WORDS["--approve"]) }),
  };
}

/**
 * The folder of a project that is changed; undefined for a new project.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_CONFLICT`
 */
function existingFolder({ in: folder, inc, projectPath, out }: Flags): string | undefined {
  const named = aliased(
    "--in",
    nonEmpty("--in", folder, "a folder"),
    "--project-path",
    nonEmpty("--project-path", projectPath, "a folder"),
  );
  if (named === undefined && inc === true) {
    throw new UsageError("OPTION_CONFLICT", "Expected --project-path with --inc, got none. Name the project that is changed.");
  }
  if (named === undefined || out === undefined) return named;
  throw new UsageError("OPTION_CONFLICT", "Expected --in for a project that is changed, or --out for a new one, got both. Leave one out.");
}

/** The answers that a continued run or a fork uses again. @throws UsageError `OPTION_INVALID` */
export function reuseOf({ reuse = "all" }: Flags): "all" | "none" {
  return oneOf("--reuse", reuse, OPTION_WORDS["--reuse"]);
}

/** @throws UsageError `OPTION_INVALID` */
export function stepsIn(text: string): number {
  return wholeNumber("--steps", text, MOST_STEPS);
}

/** The settings of an agent. @param cwd base of the config's path @throws UsageError `OPTION_INVALID` */
export function agentSettings(flags: Flags, cwd: string): AgentSettings {
  const { tools, allow, steps = DEFAULT_STEPS, commit = true, plan = false, mcp } = flags;
  const named = tools === undefined ? AGENT_TOOLS : toolNames("--tools", tools, AGENT_TOOLS);
  // The tools of servers are known when they are connected; the names in --allow are checked then.
  const allowed = allow === undefined ? [] : mcp === undefined ? toolNames("--allow", allow, named) : namesIn(allow);
  const config = nonEmpty("--mcp", mcp, "a file that names servers of tools");
  const most = stepsIn(steps);
  return { tools: named, allow: allowed, steps: most, commit, plan, ...(config === undefined ? {} : { mcp: resolve(cwd, config) }) };
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
