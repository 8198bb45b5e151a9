import { randomBytes } from "node:crypto";
import { type Json, parsedJson } from "../kernel/json.ts";
import { visible } from "../workspace/path-rules.ts";
import { driverIn } from "../workspace/sandbox-mounts.ts";
import { endText, type Sandbox, type SandboxLimits, type SandboxMount, type SandboxResult } from "../workspace/sandbox.ts";

export interface DriverRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  /** A file of `drivers`. It reads an order on standard input and begins each line of its report with the order's nonce. */
  readonly driver: string;
  readonly flags?: readonly string[] | undefined;
  readonly mounts?: readonly SandboxMount[] | undefined;
  readonly limits?: Partial<SandboxLimits> | undefined;
  readonly order: Readonly<Record<string, Json>>;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** The report of a driver: the values of its lines, unchecked, and how it ended. */
export type DriverReport =
  | { readonly kind: "ended"; readonly values: readonly unknown[] }
  /** It did not reach its end. `reason` completes a sentence that begins with "it". */
  | { readonly kind: "broken"; readonly values: readonly unknown[]; readonly reason: string }
  | { readonly kind: "not run"; readonly reason: string };

/** Bytes of all reports of one run. Drivers keep their lines below it. */
const REPORT_BYTES = 8_000_000;

/** Runs a driver in the sandbox. A line counts only with the nonce, which is new for each run and which the driver alone is given. */
export async function runDriver(request: DriverRequest): Promise<DriverReport> {
  const { root, sandbox, flags = [], order, timeout, limits, signal } = request;
  const nonce = randomBytes(16).toString("hex");
  const { path, mounts } = driverIn(sandbox, "checks", request.driver);
  const result = await sandbox.run({
    root,
    command: request.driver.endsWith(".py") ? ["python3", "-I", path] : ["node", ...flags, path],
    input: JSON.stringify({ ...order, nonce }),
    mounts: [...mounts, ...(request.mounts ?? [])],
    limits,
    timeout,
    outputLimit: REPORT_BYTES,
    signal,
  });
  const values = "stdout" in result ? valuesIn(result.stdout, nonce) : [];
  return reportOf(result, values, signal);
}

function valuesIn(stdout: string, nonce: string): unknown[] {
  const lines = stdout.split("\n").filter((line) => line.startsWith(`${nonce} `));
  return lines.map((line) => parsedJson(line.slice(nonce.length + 1))).filter((value) => value !== undefined);
}

function reportOf(result: SandboxResult, values: readonly unknown[], signal: AbortSignal | undefined): DriverReport {
  if (result.kind === "exited" && result.code === 0 && !result.isCut) return { kind: "ended", values };
  const end = endText(result, signal);
  if (!("stdout" in result))
    return { kind: "not run", reason: result.kind === "refused" ? end.replace(/^was not run: /, "") : `It ${end}.` };
  const stderr = result.kind === "exited" && result.stderr.trim() !== "" ? `: ${visible(result.stderr.trim(), 300)}` : "";
  return { kind: "broken", values, reason: `${result.isCut ? "flooded the report" : end}${stderr}` };
}
