import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));

/** The built command as a process of its own. */
export interface Child {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Its output so far. */
  readonly said: { stdout: string; stderr: string };
  /** Resolves with the exit code, or the name of the signal that ended it, once all output has come. */
  readonly ended: Promise<number | string>;
  /** Resolves when it has written something that matches; rejects when it ends without. */
  until(stream: "stdout" | "stderr", pattern: RegExp): Promise<void>;
}

/** The start of a child: in `cwd`, with nothing in its environment but what a shell needs and what is given. */
export interface ChildOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Written to its input, which is then closed. Default: the input is empty. */
  readonly stdin?: string;
  /** Its input stays open after that, for `process.stdin`. */
  readonly isFed?: true;
  /** A command that starts it, such as one that puts it into another network. */
  readonly under?: readonly string[];
}

/** Starts the built command. */
export function start(words: readonly string[], { cwd, env = {}, stdin = "", isFed, under = [] }: ChildOptions): Child {
  const [program, ...before] = [...under, process.execPath];
  return watch(
    spawn(program, [...before, MAIN, ...words], { cwd, env: { ...plainEnvironment(), ...env }, stdio: ["pipe", "pipe", "pipe"] }),
    isFed === true ? undefined : stdin,
  );
}

/** Starts the built command from a shell line, in which `troupe` stands for it: for what only a shell can do. */
export function startInShell(line: string, { cwd, env = {}, stdin = "" }: ChildOptions): Child {
  const program = `troupe() { "${process.execPath}" "${MAIN}" "$@"; }\n${line}`;
  return watch(spawn("/bin/sh", ["-c", program], { cwd, env: { ...plainEnvironment(), ...env }, stdio: ["pipe", "pipe", "pipe"] }), stdin);
}

/** Runs the built command to its end. */
export async function run(
  words: readonly string[],
  options: ChildOptions,
): Promise<{ readonly code: number | string; readonly stdout: string; readonly stderr: string }> {
  const child = start(words, options);
  const code = await child.ended;
  return { code, ...child.said };
}

function plainEnvironment(): Record<string, string> {
  const { PATH = "", HOME = "", SystemRoot = "", TEMP = "" } = process.env;
  return { PATH, HOME, SystemRoot, TEMP };
}

/** @param stdin undefined: whoever started it writes and closes it */
function watch(child: ChildProcessByStdio<Writable, Readable, Readable>, stdin: string | undefined): Child {
  const said = { stdout: "", stderr: "" };
  const heard = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8");
    child[name].on("data", (text: string) => {
      said[name] += text;
      for (const listener of heard) listener();
    });
  }
  child.stdin.on("error", () => {});
  if (stdin !== undefined) child.stdin.end(stdin);
  const ended = new Promise<number | string>((resolve) => child.on("close", (code, signal) => resolve(code ?? signal ?? "?")));
  const until = (stream: "stdout" | "stderr", pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (pattern.test(said[stream])) resolve();
      };
      heard.add(look);
      look();
      void ended.then((code) =>
        reject(new Error(`expected ${pattern} on ${stream}, but it ended with ${code}:\n${said.stdout}${said.stderr}`)),
      );
    });
  return { process: child, said, ended, until };
}
