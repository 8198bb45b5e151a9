import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findCgroups } from "./cgroup.ts";
import { WATCH_INTERVAL } from "./limit-watch.ts";
import { canMeasureTrees } from "./process-tree.ts";
import { inCopy } from "./project-copy.ts";
import { plainEnvironment } from "./program-path.ts";
import { findPrlimit, limitWords, NODE_OPTIONS } from "./resource-limits.ts";
import { type LimitedOptions, runLimited } from "./run-limited.ts";
import { type Refusal, type Sandbox, SANDBOX_OUTPUT, SANDBOX_TIMEOUT, type SandboxRequest, type SandboxResult } from "./sandbox.ts";
import { sandboxLimits } from "./sandbox-limits.ts";

/**
 * Runs commands as the user who runs this process: on a copy, without its environment, with limits of time, output and (where prlimit
 * is) size. It keeps accidents small. It is no protection from code that wants to do harm: for that the user must trust the code.
 */
export function plainSandbox(): Sandbox {
  const prlimit = findPrlimit();
  const limits = prlimit === undefined ? "no limits of memory and file size (prlimit is missing)" : "memory and file size limited";
  const cgroups = process.platform === "linux" ? findCgroups() : { reason: "there is no cgroup v2" };
  const missing = missingOf(cgroups);
  return {
    kind: "none",
    describe: [`no isolation: a copy of the project, an environment without keys, ${limits}`, ...missing].join("; "),
    missing,
    run: async (request) => {
      const held: LimitedOptions = {
        limits: sandboxLimits(request.limits),
        missing,
        cgroups: "parent" in cgroups ? cgroups.parent : undefined,
      };
      return inCopy(request.root, { signal: request.signal }, (copy) => runPlainly(request, copy.scratch, { prlimit, held }));
    },
  };
}

function missingOf(cgroups: ReturnType<typeof findCgroups>): string[] {
  const together = canMeasureTrees ? `watched every ${WATCH_INTERVAL} ms` : "no limit";
  return [
    ...("parent" in cgroups ? [] : [`memory and processes together: ${together}, ${cgroups.reason}`]),
    "number of files and bytes in all of them: no limit",
  ];
}

async function runPlainly(
  request: SandboxRequest,
  scratch: string,
  { prlimit, held }: { readonly prlimit: string | undefined; readonly held: LimitedOptions },
): Promise<Exclude<SandboxResult, Refusal>> {
  const home = join(scratch, "home");
  await mkdir(home);
  const timeout = request.timeout ?? SANDBOX_TIMEOUT;
  const [name, ...args] = request.command;
  const program = name === "node" ? process.execPath : name;
  const [file = program, ...words] = [...(prlimit === undefined ? [] : limitWords(prlimit, timeout, undefined)), program, ...args];
  return runLimited(
    {
      file,
      args: words,
      cwd: join(scratch, "project"),
      env: environmentIn(home),
      timeout,
      signal: request.signal,
      outputLimit: request.outputLimit ?? SANDBOX_OUTPUT,
    },
    held,
  );
}

function environmentIn(home: string): Record<string, string> {
  const plain = plainEnvironment();
  const separator = process.platform === "win32" ? ";" : ":";
  return { ...plain, PATH: `${dirname(process.execPath)}${separator}${plain["PATH"] ?? ""}`, HOME: home, TMPDIR: home, NODE_OPTIONS };
}
