/** The name of a stack. */
export type StackName = "node" | "page" | "python";

/** A technology that projects are written in: everything the company knows about it. Plain data. */
export interface Stack {
  readonly name: StackName;
  /** One line by which a product manager chooses. */
  readonly description: string;
  /** Rules of prompts: layout, language, tests. One paragraph each. */
  readonly rules: readonly string[];
  /** Names of the files that every project of it has. A verification expects them. */
  readonly layout: readonly string[];
  /** Endings of its source files. */
  readonly sources: readonly string[];
  /** Example of a test file's path. */
  readonly testPath: string;
  /** The command that runs all tests. */
  readonly test: readonly [string, ...string[]];
  /** An example of the command by which a user starts a product; undefined where a user opens a file. */
  readonly start?: readonly [string, ...string[]] | undefined;
  /** The command that installs packages, where the user allows it. */
  readonly install: readonly [string, ...string[]];
  /** The file that a browser opens. A verification opens it and fails on its errors. */
  readonly page?: string | undefined;
}
