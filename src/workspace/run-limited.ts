import { Cgroup } from "./cgroup.ts";
import { LimitWatch, type WatchOptions } from "./limit-watch.ts";
import { type ProcessRequest, runProcess } from "./process.ts";
import type { Refusal, SandboxResult } from "./sandbox.ts";

/** How a command is held to its limits. */
export interface LimitedOptions extends WatchOptions {
  /** Folder of the system's tree in which a group for the command can be made; undefined where there is none. */
  readonly cgroups: string | undefined;
  /** The bounds that are not kept, for the result. */
  readonly missing: readonly string[];
}

/**
 * Runs a program that may use so much together with all it starts: in a cgroup where one can be made, and always watched, for a cgroup
 * counts no files.
 */
export async function runLimited(request: ProcessRequest, options: LimitedOptions): Promise<Exclude<SandboxResult, Refusal>> {
  const group = options.cgroups === undefined ? undefined : Cgroup.make(options.cgroups, options.limits);
  const watch = new LimitWatch(options);
  const [file = request.file, ...args] = [...(group?.enterWords ?? []), request.file, ...(request.args ?? [])];
  try {
    const result = await runProcess({ ...request, file, args, onStart: (pid) => watch.start(pid) });
    const told = options.missing.length === 0 ? {} : { missing: options.missing };
    const breach = watch.breach ?? group?.breach;
    if (breach === undefined || !("stdout" in result)) return { ...result, ...told };
    const { stdout, stderr, isCut } = result;
    return { kind: "limit", ...breach, stdout, stderr, isCut, ...told };
  } finally {
    watch.stop();
    group?.end();
  }
}
