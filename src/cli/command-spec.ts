import type { ExitCode } from "./errors.ts";
import type { Flags, OptionName } from "./options.ts";
import { AGENT, BOUNDS, COMPANY, METAGPT, MODEL } from "./run-options.ts";
import type { Session } from "./session.ts";

/** An option, with a text of its own where it means something else here; or the heading of those that follow. */
export type OptionUse = OptionName | `${string}:` | { readonly [Name in OptionName]?: string | readonly [flags: string, text: string] };

/** Runs a command with the arguments that were given, also those of a list one by one. */
export type Handler = (session: Session, flags: Flags, ...args: string[]) => Promise<ExitCode | void>;

export interface CommandSpec {
  /** The name and the arguments, as they are typed. */
  readonly name: string;
  readonly text: string;
  /** The heading of this command and those that follow. */
  readonly group?: string;
  /** Texts of its arguments. */
  readonly args?: Readonly<Record<string, string>>;
  readonly usage?: string;
  readonly options?: readonly OptionUse[];
  /** It continues a run: its options are taken as they are `later`. */
  readonly continues?: true;
  /** It stands for its group when none is named. */
  readonly isDefault?: true;
  readonly examples?: string;
  readonly commands?: readonly CommandSpec[];
  /** Loads its file, so that `--help` and `--version` answer at once. */
  readonly load?: () => Promise<Handler>;
}

export const namesOf = (table: object): readonly OptionName[] => Object.keys(table) as OptionName[];

export const TALK: readonly OptionUse[] = ["The output:", "json", "quiet", "verbose", "color", "Options:"];
export const STORED: readonly OptionUse[] = ["The record:", "store", ...TALK];
export const REACH: readonly OptionUse[] = ["The model:", ...namesOf(MODEL)];
export const PAID: readonly OptionUse[] = [...REACH, "allowUnpriced"];
export const LIMITS: readonly OptionUse[] = ["The company:", ...namesOf(BOUNDS)];
export const CREW: readonly OptionUse[] = [...LIMITS, ...namesOf(COMPANY)];
export const AS_METAGPT: readonly OptionUse[] = ["As MetaGPT's:", ...namesOf(METAGPT), "Options:"];
export const OF_AGENT: readonly OptionUse[] = ["The agent:", ...namesOf(AGENT)];
export const RUN = "the run, or the beginning of its id";
