import { UsageError } from "../kernel/errors.ts";
import { type MicroUsd, usd } from "../model/money.ts";
import type { ModelPrice } from "../model/price.ts";
import type { SandboxMode } from "../workspace/sandbox.ts";
import type { AgentSettings } from "./agent-settings.ts";
import type { IdeaSource } from "./idea.ts";
import { shown } from "./screen/text.ts";

/** Variables of the environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Options as the command line gives them: texts, not yet looked at. */
export interface Flags {
  readonly file?: string;
  readonly budget?: string;
  readonly investment?: string;
  readonly rounds?: string;
  readonly nRound?: string;
  readonly out?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly price?: string;
  readonly allowUnpriced?: boolean;
  readonly seed?: string;
  readonly reuse?: string;
  readonly sandbox?: string;
  readonly codeReview?: boolean;
  readonly runTests?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  readonly color?: boolean;
  readonly verbose?: boolean;
  readonly ping?: boolean;
  readonly store?: string;
}

/** How a command talks. */
export interface OutputSettings {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  /** `--no-color` was given. */
  readonly isColorOff: boolean;
}

/** Which model is asked, and how it is reached. */
export interface ModelSettings {
  readonly id: string;
  readonly apiKey: string | undefined;
  /** The name of the variable the key came from: names may be shown, keys never. */
  readonly keyFrom: string | undefined;
  readonly baseURL: string | undefined;
  /** What the user says it costs. */
  readonly price: ModelPrice | undefined;
}

/** A model that can be reached, or none, and whether one was asked for by name. */
export type ModelChoice =
  | { readonly kind: "model"; readonly model: ModelSettings }
  | { readonly kind: "none"; readonly asked: string | undefined };

/** How a company works, whatever its model. */
export interface CompanySettings {
  /** Micro-dollars. */
  readonly budget: MicroUsd;
  /** Whether the user said the amount; the default binds priced models only. */
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
  /** One agent works instead of the company. */
  readonly agent?: AgentSettings | undefined;
}

/** Everything `troupe run` needs to know. */
export interface RunSettings extends CompanySettings {
  readonly idea: IdeaSource;
  readonly model: ModelChoice;
  readonly isConfirmed: boolean;
  readonly output: OutputSettings;
}

/** Dollars that a run of a priced model may cost when nobody says more. */
const DEFAULT_BUDGET = "3";
/** A company is through long before; a debate that never ends is not. */
const DEFAULT_ROUNDS = "20";
/** Good enough to write a small project, cheap enough to try. */
const DEFAULT_MODEL = "gpt-5-mini";
const MOST_ROUNDS = 100_000;
const MOST_DOLLARS = 1_000_000;
const SANDBOX_MODES: readonly SandboxMode[] = ["auto", "bubblewrap", "none"];
const KEY_VARIABLES = ["TROUPE_API_KEY", "OPENAI_API_KEY"] as const;
const URL_VARIABLES = ["TROUPE_BASE_URL", "OPENAI_BASE_URL"] as const;

/**
 * Options and environment of `troupe run`, checked.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_CONFLICT`
 */
export function runSettings(idea: IdeaSource, flags: Flags, env: Variables): RunSettings {
  return {
    idea,
    model: modelChoice(flags, env),
    isConfirmed: flags.yes === true,
    output: outputSettings(flags),
    ...companySettings(flags),
  };
}

/** The options that say how a command talks. */
export function outputSettings(flags: Flags): OutputSettings {
  return {
    isJson: flags.json === true,
    isQuiet: flags.quiet === true,
    isVerbose: flags.verbose === true,
    isColorOff: flags.color === false,
  };
}

/** The options that say how the company works. @throws UsageError `OPTION_INVALID`, `OPTION_CONFLICT` */
export function companySettings(flags: Flags): CompanySettings {
  const budget = oneOf("--budget", flags.budget, "--investment", flags.investment);
  return {
    budget: usd(dollars(budget ?? DEFAULT_BUDGET)),
    isBudgetExplicit: budget !== undefined,
    allowUnpriced: flags.allowUnpriced === true,
    rounds: roundsOf(oneOf("--rounds", flags.rounds, "--n-round", flags.nRound) ?? DEFAULT_ROUNDS),
    out: flags.out === undefined ? undefined : nonEmpty("--out", flags.out, "a folder"),
    force: flags.force === true,
    seed: flags.seed === undefined ? undefined : nonEmpty("--seed", flags.seed, "a word or a number"),
    sandbox: sandboxMode(flags.sandbox ?? "auto"),
    codeReview: flags.codeReview !== false,
    runTests: flags.runTests !== false,
  };
}

/**
 * Which model the options and the environment lead to. A key or a base URL makes one reachable; a name alone does not.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function modelChoice(flags: Flags, env: Variables): ModelChoice {
  const asked = askedModel(flags) ?? set(env["TROUPE_MODEL"]);
  return reachedModel(asked, flags, env);
}

/** The model that `--model` names. @throws UsageError `OPTION_INVALID` */
export function askedModel(flags: Flags): string | undefined {
  return flags.model === undefined ? undefined : nonEmpty("--model", flags.model, "the name of a model");
}

/** The model of a name, as options and environment reach it. @throws UsageError `OPTION_INVALID` */
export function reachedModel(asked: string | undefined, flags: Flags, env: Variables): ModelChoice {
  const baseURL = flags.baseUrl === undefined ? baseURLIn(env) : nonEmpty("--base-url", flags.baseUrl, "a URL");
  const key = firstOf(env, KEY_VARIABLES);
  const price = flags.price === undefined ? undefined : priceFrom(flags.price);
  if (baseURL === undefined && key === undefined) return { kind: "none", asked };
  return { kind: "model", model: { id: asked ?? DEFAULT_MODEL, apiKey: key?.value, keyFrom: key?.name, baseURL, price } };
}

/** The base URL that the environment names. */
export function baseURLIn(env: Variables): string | undefined {
  return firstOf(env, URL_VARIABLES)?.value;
}

function firstOf(env: Variables, names: readonly string[]): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = set(env[name]);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

/** An empty variable is an unset one: that is how shells and CI systems unset them. */
function set(value: string | undefined): string | undefined {
  const text = value?.trim() ?? "";
  return text === "" ? undefined : text;
}

function oneOf(name: string, value: string | undefined, alias: string, aliased: string | undefined): string | undefined {
  if (value !== undefined && aliased !== undefined) {
    throw new UsageError("OPTION_CONFLICT", `Expected ${name} or ${alias}, which mean the same, got both. Leave one out.`);
  }
  return value ?? aliased;
}

function nonEmpty(option: string, text: string, what: string): string {
  if (text.trim() !== "") return text.trim();
  throw new UsageError("OPTION_INVALID", `Expected ${option} to be ${what}, got an empty text.`);
}

/** A number as people write it: `3`, `0.50`, `$3`. Not `1e9`, not `0x10`, not `Infinity`. */
function decimal(text: string): number | undefined {
  return /^\$?\d+(\.\d+)?$|^\$?\.\d+$/.test(text.trim()) ? Number(text.trim().replace("$", "")) : undefined;
}

function dollars(text: string): number {
  const amount = decimal(text);
  if (amount !== undefined && amount > 0 && amount <= MOST_DOLLARS) return amount;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected --budget to be an amount of dollars above 0, such as 3 or 0.50, got "${shown(text, 60)}".`,
  );
}

function roundsOf(text: string): number {
  const rounds = /^\d+$/.test(text.trim()) ? Number(text) : 0;
  if (rounds >= 1 && rounds <= MOST_ROUNDS) return rounds;
  throw new UsageError("OPTION_INVALID", `Expected --rounds to be a whole number from 1 to ${MOST_ROUNDS}, got "${shown(text, 60)}".`);
}

function priceFrom(text: string): ModelPrice {
  const [input, output, ...rest] = text.split(",").map(decimal);
  if (input !== undefined && output !== undefined && rest.length === 0) return { input, output };
  throw new UsageError(
    "OPTION_INVALID",
    `Expected --price to be dollars for a million tokens in and out, such as 0.25,2, got "${shown(text, 60)}".`,
  );
}

/** Which answers a run that goes on, or a fork, uses again. @throws UsageError `OPTION_INVALID` */
export function reuseOf({ reuse = "all" }: Flags): "all" | "none" {
  if (reuse === "all" || reuse === "none") return reuse;
  throw new UsageError("OPTION_INVALID", `Expected --reuse to be all or none, got "${shown(reuse, 60)}".`);
}

function sandboxMode(text: string): SandboxMode {
  const mode = SANDBOX_MODES.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw new UsageError("OPTION_INVALID", `Expected --sandbox to be one of ${SANDBOX_MODES.join(", ")}, got "${shown(text, 60)}".`);
}
