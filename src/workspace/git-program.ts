import { tmpdir } from "node:os";
import { join } from "node:path";
import { abortReason } from "../kernel/abort.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { visibleLines } from "./path-rules.ts";
import { type ProcessResult, runProcess } from "./process.ts";
import { findProgram, plainEnvironment } from "./program-path.ts";
import { emailOf, personName } from "./commit-text.ts";
import type { CommitRequest } from "./workspace.ts";

const GIT_TIMEOUT = 60_000;

/** The `git` program at one folder, with settings that keep a repository from running programs or asking questions. */
export class GitProgram {
  /** As `realpath` gives it. */
  readonly root: string;
  readonly #file: string;
  /** Settings that keep the filters of the repository's own configuration from running when git looks at the user's files. */
  #noFilters: Readonly<Record<string, string>> = {};

  private constructor(file: string, root: string) {
    this.#file = file;
    this.root = root;
  }

  /** Finds the program; undefined when there is none. Before files are read or made with it, call {@link GitProgram.disarm}. */
  static find(root: string): GitProgram | undefined {
    const file = findProgram("git");
    return file === undefined ? undefined : new GitProgram(file, root);
  }

  /** Switches off the filters that the repository's configuration names. */
  async disarm(signal?: AbortSignal): Promise<void> {
    const listed = await this.call(["config", "-z", "--name-only", "--get-regexp", "^filter\\."], { signal });
    if (listed.kind === "exited" && listed.code === 1) return;
    const keys = outputOf(listed, "config", signal)
      .split("\0")
      .filter((key) => key !== "");
    const settings = keys.map((key, n) => ({
      [`GIT_CONFIG_KEY_${n}`]: key,
      [`GIT_CONFIG_VALUE_${n}`]: key.endsWith(".required") ? "false" : "",
    }));
    this.#noFilters = Object.assign({ GIT_CONFIG_COUNT: String(keys.length) }, ...settings) as Record<string, string>;
  }

  /** Runs a command and returns its output without the last line break. */
  async run(args: readonly [string, ...string[]], options: GitCallOptions): Promise<string> {
    return outputOf(await this.call(args, options), args[0], options.signal);
  }

  /** The id of the object with this name; undefined when there is none. */
  async idOf(name: string, signal?: AbortSignal): Promise<string | undefined> {
    const found = await this.call(["rev-parse", "--verify", "--quiet", name], { signal });
    return found.kind === "exited" && found.code === 0 ? found.stdout.trim() : undefined;
  }

  /** The branch that is checked out; undefined when there is none. */
  async branch(signal?: AbortSignal): Promise<string | undefined> {
    const found = await this.call(["symbolic-ref", "--quiet", "--short", "HEAD"], { signal });
    return found.kind === "exited" && found.code === 0 ? found.stdout.trim() : undefined;
  }

  call(args: readonly string[], options: GitCallOptions): Promise<ProcessResult> {
    const { signal, env, stdin = "", isInit, timeout = GIT_TIMEOUT, outputLimit = 16 * 1024 * 1024 } = options;
    const here = isInit === true ? {} : { GIT_DIR: join(this.root, ".git"), GIT_WORK_TREE: this.root };
    const settings = [...GIT_SETTINGS, `safe.directory=${this.root}`].flatMap((setting) => ["-c", setting]);
    return runProcess({
      file: this.#file,
      args: ["-C", this.root, ...settings, ...args],
      // Not the project: on Windows a program of the folder worked in would be found before the real one.
      cwd: tmpdir(),
      env: { ...plainEnvironment(), ...BARE_ENVIRONMENT, ...this.#noFilters, ...here, ...env },
      signal,
      timeout,
      stdin,
      outputLimit,
    });
  }
}

export interface GitCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The repository is not there yet. */
  readonly isInit?: boolean;
  /** Milliseconds. Default: one minute. */
  readonly timeout?: number;
  /** Bytes of output that are kept; a line at its end says that there was more. Default 16 MiB. */
  readonly outputLimit?: number;
}

/** The output without its last line break. */
export function outputOf(result: ProcessResult, command: string, signal: AbortSignal | undefined): string {
  if (result.kind === "exited" && result.code === 0) return result.stdout.replace(/\n$/, "");
  if (result.kind === "aborted" && signal !== undefined) throw abortReason(signal);
  throw new WorkspaceError(
    "WORKSPACE_GIT",
    withAdvice(
      `Expected git ${command} to succeed, but ${describeFailure(result)}`,
      "Mend that, then resume: the files are written, and what is not committed is committed then.",
    ),
    { data: { command, result: result.kind } },
  );
}

/** The failure and its remedy. Several lines from git stay lines. */
export function withAdvice(happened: string, advice: string): string {
  return happened.includes("\n") ? `${happened}\n${advice}` : `${happened.replace(/\.$/, "")}. ${advice}`;
}

export function describeFailure(result: ProcessResult): string {
  switch (result.kind) {
    case "exited": {
      const said = visibleLines(result.stderr.trim());
      return `it ended with code ${result.code}${said === "" ? "" : `:${said.includes("\n") ? "\n" : " "}${said}`}`;
    }
    case "signalled":
      return `it was ended by ${result.signal}`;
    case "timeout":
      return `it did not end within ${result.ms} ms`;
    case "aborted":
      return "it was stopped";
    case "missing":
      return "it is not there any more";
    case "unstarted":
      return `it could not be started (${result.reason})`;
  }
}

const GIT_SETTINGS: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.attributesFile=/dev/null",
  "core.quotePath=false",
  "commit.gpgSign=false",
  "gc.auto=0",
  "i18n.commitEncoding=UTF-8",
  "init.defaultBranch=main",
  "advice.detachedHead=false",
];

/** No configuration but the repository's own and ours; no questions; no network, also not for a repository that would fetch objects it lacks. */
const BARE_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_AUTHOR_NAME: "Troupe",
  GIT_AUTHOR_EMAIL: emailOf("troupe"),
  GIT_COMMITTER_NAME: "Troupe",
  GIT_COMMITTER_EMAIL: emailOf("troupe"),
};

export function personEnvironment(request: Pick<CommitRequest, "author" | "date">): Record<string, string> {
  const date = `@${Math.floor(request.date / 1000)} +0000`;
  return {
    GIT_AUTHOR_NAME: `${personName(request.author)} via Troupe`,
    GIT_AUTHOR_EMAIL: emailOf(request.author),
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
}
