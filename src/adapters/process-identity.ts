import { createHash } from "node:crypto";
import { readlinkSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isAlive } from "../kernel/system-error.ts";

/** The start of a process where the system does not report it. */
const NO_START = "0";

/**
 * The identity of a process, for others that must know whether it is gone. `ProcessIdentity.O1` a process counts as gone only where this machine can
 * know it: after another boot, or in the same space of process ids, where no process has this id and this start. Otherwise {@link stateOfProcess}
 * returns "unknown" or "running".
 */
export interface ProcessIdentity {
  readonly machine: string;
  readonly boot: string;
  /** The namespace of the process id; "0" on systems with a single one. */
  readonly space: string;
  readonly pid: number;
  /** The time of its start, in ticks since the boot; "0" if the system does not report it. */
  readonly start: string;
}

export function stateOfProcess(identity: ProcessIdentity, here: ProcessIdentity = ownProcess()): "running" | "gone" | "unknown" {
  if (identity.machine !== here.machine) return "unknown";
  if (identity.boot !== here.boot) return "gone";
  if (identity.space !== here.space) return "unknown";
  if (!isAlive(identity.pid)) return "gone";
  const found = statOf(identity.pid);
  const isOther = found !== undefined && (found.hasEnded || (identity.start !== NO_START && found.start !== identity.start));
  return isOther ? "gone" : "running";
}

/** True when it is proven that a process has ended while its machine ran on. After another boot nothing is proven: the machine may have ended it. */
export function hasDied(identity: ProcessIdentity, here: ProcessIdentity = ownProcess()): boolean {
  return identity.boot === here.boot && identity.start !== NO_START && stateOfProcess(identity, here) === "gone";
}

export const IDENTITY: string = String.raw`([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-z]+)-([0-9a-z]+)-([0-9a-z]+)`;
const WHOLE_IDENTITY = new RegExp(`^${IDENTITY}$`, "u");

export function identityText({ machine, boot, space, pid, start }: ProcessIdentity = ownProcess()): string {
  return [machine, boot, space, pid.toString(36), start].join("-");
}

export function identityIn(text: string): ProcessIdentity | undefined {
  const match = WHOLE_IDENTITY.exec(text);
  if (match === null) return undefined;
  const [, machine = "", boot = "", space = "", pid = "", start = ""] = match;
  return { machine, boot, space, pid: Number.parseInt(pid, 36), start };
}

let own: ProcessIdentity | undefined;

export function ownProcess(): ProcessIdentity {
  own ??= processOf(process.pid);
  return own;
}

export function processOf(pid: number): ProcessIdentity {
  const boot = readFirst(["/proc/sys/kernel/random/boot_id"]);
  const id = readFirst(["/etc/machine-id", "/var/lib/dbus/machine-id"]);
  return {
    machine: hashOf(machineText({ id, boot, host: hostname() })),
    boot: hashOf(boot),
    space: processSpace(),
    pid,
    start: statOf(pid)?.start ?? NO_START,
  };
}

/** The boot identifies a container, which often has no machine id, and whose name may exist on another machine too. */
function machineText({ id, boot, host }: { readonly id: string; readonly boot: string; readonly host: string }): string {
  return `${id === "" ? boot : id}\n${host}`;
}

function statOf(pid: number): { readonly start: string; readonly hasEnded: boolean } | undefined {
  const fields = processFields(pid);
  const start = fields[19] ?? "";
  return /^\d+$/.test(start) ? { start: BigInt(start).toString(36), hasEnded: hasEnded(fields) } : undefined;
}

function processSpace(): string {
  try {
    const [, inode = "0"] = /\[(\d+)\]/.exec(readlinkSync("/proc/self/ns/pid")) ?? [];
    return BigInt(inode).toString(36);
  } catch {
    return "0";
  }
}

/** The first text of some files; empty for a system without them, which has one boot. */
function readFirst(files: readonly string[]): string {
  return files.map((file) => procText(file).trim()).find((text) => text !== "") ?? "";
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

export function procText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** The fields of a process in `stat`, from its state on; empty for a process that does not exist. */
export function processFields(pid: number | string, proc = "/proc"): readonly string[] {
  const stat = procText(`${proc}/${pid}/stat`);
  // The name of the program may hold spaces and brackets: the fields begin behind the last one.
  return stat === "" ? [] : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** True for a process that has ended and only waits for its parent. */
export function hasEnded([state]: readonly string[]): boolean {
  return state === "Z" || state === "X";
}
