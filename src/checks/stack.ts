/** The name of a stack. */
export type StackName = "node" | "page" | "python";

/** A technology that projects are written in: everything the company knows about it. Plain data. */
export interface Stack {
  readonly name: StackName;
  /** One line by which a product manager chooses. */
  readonly description: string;
  /** Rules of prompts: layout, language, tests. One paragraph each. */
  readonly rules: readonly string[];
  /** Names of the files that every project of it has. */
  readonly layout: readonly string[];
  /** Endings of its source files. */
  readonly sources: readonly string[];
  /** Example of a test file's path. */
  readonly testPath: string;
  /** The command that runs all tests. */
  readonly test: readonly [string, ...string[]];
  /** The command that installs packages, where the user allows it. */
  readonly install: readonly [string, ...string[]];
}
