import type { ExitCode } from "./errors.ts";
import { AGENT, BOUNDS, COMPANY, type Flags, METAGPT, MODEL, type OptionName, WORKER } from "./options.ts";
import type { Session } from "./session.ts";

/** An option, with help of its own where it means something else here; or the heading of the options that follow. */
export type OptionUse = OptionName | `${string}:` | { readonly [Name in OptionName]?: string | readonly [flags: string, text: string] };

export type Handler = (session: Session, flags: Flags, ...args: string[]) => Promise<ExitCode | void>;

export interface CommandSpec {
  readonly text: string;
  /** The heading of this command and those that follow. */
  readonly group?: string;
  readonly args?: Readonly<Record<string, string>>;
  readonly usage?: string;
  readonly options?: readonly OptionUse[];
  /** It continues a run: options have their `later` help, and fixed ones are hidden. */
  readonly continues?: true;
  readonly isDefault?: true;
  readonly examples?: string;
  readonly commands?: Commands;
  /** Loads its file, so that `--help` and `--version` answer at once. */
  readonly load?: () => Promise<Handler>;
}

export type Commands = Readonly<Record<string, CommandSpec>>;

export const namesOf = (table: object): readonly OptionName[] => Object.keys(table) as OptionName[];

export const TALK: readonly OptionUse[] = ["The output:", "json", "quiet", "verbose", "color", "Options:"];
export const STORED: readonly OptionUse[] = ["The record:", "store", ...TALK];
export const REACH: readonly OptionUse[] = ["The model:", ...namesOf(MODEL)];
export const PAID: readonly OptionUse[] = [...REACH, "allowUnpriced"];
export const LIMITS: readonly OptionUse[] = ["The company:", ...namesOf(BOUNDS)];
export const CREW: readonly OptionUse[] = [...LIMITS, ...namesOf(COMPANY)];
export const AS_METAGPT: readonly OptionUse[] = ["As MetaGPT's:", ...namesOf(METAGPT), "Options:"];
export const OF_WORKER: readonly OptionUse[] = ["The worker:", ...namesOf(WORKER)];
export const OF_AGENT: readonly OptionUse[] = ["The agent:", ...namesOf(AGENT)];
export const RUN = "the run, or the beginning of its id";
