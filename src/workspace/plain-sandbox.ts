import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inCopy } from "./project-copy.ts";
import { type ProcessResult, runProcess } from "./process.ts";
import { plainEnvironment } from "./program-path.ts";
import { findPrlimit, limitWords, NODE_OPTIONS } from "./resource-limits.ts";
import { type Sandbox, SANDBOX_OUTPUT, SANDBOX_TIMEOUT, type SandboxRequest } from "./sandbox.ts";

/**
 * Runs commands as the user who runs this process: on a copy, without its environment, with limits of time, output and (where prlimit
 * is) size. It keeps accidents small. It is no protection from code that wants to do harm: for that the user must trust the code.
 */
export function plainSandbox(): Sandbox {
  const prlimit = findPrlimit();
  const limits = prlimit === undefined ? "no limits of memory and file size (prlimit is missing)" : "memory and file size limited";
  return {
    kind: "none",
    describe: `no isolation: a copy of the project, an environment without keys, ${limits}`,
    run: (request) => inCopy(request.root, { signal: request.signal }, (copy) => runPlainly(request, copy.scratch, prlimit)),
  };
}

async function runPlainly(request: SandboxRequest, scratch: string, prlimit: string | undefined): Promise<ProcessResult> {
  const home = join(scratch, "home");
  await mkdir(home);
  const timeout = request.timeout ?? SANDBOX_TIMEOUT;
  const [name, ...args] = request.command;
  const program = name === "node" ? process.execPath : name;
  const [file = program, ...words] = [...(prlimit === undefined ? [] : limitWords(prlimit, timeout, undefined)), program, ...args];
  return runProcess({
    file,
    args: words,
    cwd: join(scratch, "project"),
    env: environmentIn(home),
    timeout,
    signal: request.signal,
    outputLimit: request.outputLimit ?? SANDBOX_OUTPUT,
  });
}

function environmentIn(home: string): Record<string, string> {
  const plain = plainEnvironment();
  const separator = process.platform === "win32" ? ";" : ":";
  return { ...plain, PATH: `${dirname(process.execPath)}${separator}${plain["PATH"] ?? ""}`, HOME: home, TMPDIR: home, NODE_OPTIONS };
}
