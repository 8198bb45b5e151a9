import { isAlive } from "../kernel/system-error.ts";
import { createHash, randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { TEMPORARY_SUFFIX } from "./path-rules.ts";
import { hasEnded, processFields, procText } from "./proc-file.ts";

/**
 * The names of temporary things tell which process they belong to, so that a later process can remove what a killed one left.
 *
 * `TemporaryOwner.O1` an owner counts as gone only when this machine can know it: same machine, and either another boot, or the same boot and
 * the same space of process ids, in which no process has this id and this start. Of all else {@link stateOf} says
 * "unknown" or "running".
 * `TemporaryOwner.O2` only names that this file made are ever taken for temporary: {@link ownerOfFile} and {@link ownerOfFolder} match all of
 * a name.
 */
const OWNER = String.raw`([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-z]+)-([0-9a-z]+)-([0-9a-z]+)`;
const FILE = new RegExp(String.raw`^\..{1,40}\.${OWNER}\.[0-9a-f]{12}${TEMPORARY_SUFFIX.replace(".", String.raw`\.`)}$`, "su");
/** Code points of a file's own name in the name of its temporary one. */
const SHOWN_NAME = 20;

/** The user and group `nobody`, which owns the copies of a sandbox that root starts. */
export const NOBODY = 65534;

export interface TemporaryOwner {
  readonly machine: string;
  readonly boot: string;
  /** The namespace of the process id; "0" on systems with a single one. */
  readonly space: string;
  readonly pid: number;
  /** When it started, in ticks since the boot; "0" where a system does not tell. */
  readonly start: string;
}

/** A hidden name for a file that is being written, next to the file `name`. */
export function temporaryName(name: string, owner: TemporaryOwner = ownOwner()): string {
  const shown = Array.from(name).slice(0, SHOWN_NAME).join("");
  return `.${shown}.${ownerText(owner)}.${randomBytes(6).toString("hex")}${TEMPORARY_SUFFIX}`;
}

/** The beginning of the name of a temporary folder. @param kind such as `troupe-sandbox-` */
export function temporaryPrefix(kind: string, owner: TemporaryOwner = ownOwner()): string {
  return `${kind}${ownerText(owner)}-`;
}

/** The owner of a file by the name {@link temporaryName} made. Undefined for every other name. */
export function ownerOfFile(name: string): TemporaryOwner | undefined {
  return ownerIn(FILE.exec(name));
}

/** The owner of a folder by a name {@link temporaryPrefix} began. Undefined for every other name. */
export function ownerOfFolder(name: string): TemporaryOwner | undefined {
  return ownerIn(new RegExp(String.raw`^\.?troupe-[a-z]+-${OWNER}-[0-9A-Za-z]{6}$`, "u").exec(name));
}

/** The state of a process: running, gone, or unknown on this machine. */
export function stateOf(owner: TemporaryOwner, here: TemporaryOwner = ownOwner()): "running" | "gone" | "unknown" {
  if (owner.machine !== here.machine) return "unknown";
  if (owner.boot !== here.boot) return "gone";
  if (owner.space !== here.space) return "unknown";
  if (!isAlive(owner.pid)) return "gone";
  const found = statOf(owner.pid);
  const isOther = found !== undefined && (found.hasEnded || (owner.start !== "0" && found.start !== owner.start));
  return isOther ? "gone" : "running";
}

let own: TemporaryOwner | undefined;

export function ownOwner(): TemporaryOwner {
  own ??= ownerOf(process.pid);
  return own;
}

/** A process of this machine, as names tell it. */
export function ownerOf(pid: number): TemporaryOwner {
  const boot = readFirst(["/proc/sys/kernel/random/boot_id"]);
  const id = readFirst(["/etc/machine-id", "/var/lib/dbus/machine-id"]);
  return {
    machine: hashOf(machineText({ id, boot, host: hostname() })),
    boot: hashOf(boot),
    space: processSpace(),
    pid,
    start: statOf(pid)?.start ?? "0",
  };
}

/**
 * Returns a text that identifies a machine. A container often has no id, and its name may exist on another machine too; then its boot
 * identifies it, so that neither takes the other for an earlier boot of itself.
 */
export function machineText({ id, boot, host }: { readonly id: string; readonly boot: string; readonly host: string }): string {
  return `${id === "" ? boot : id}\n${host}`;
}

function ownerText({ machine, boot, space, pid, start }: TemporaryOwner): string {
  return [machine, boot, space, pid.toString(36), start].join("-");
}

function ownerIn(match: RegExpExecArray | null): TemporaryOwner | undefined {
  if (match === null) return undefined;
  const [, machine = "", boot = "", space = "", pid = "", start = ""] = match;
  return { machine, boot, space, pid: Number.parseInt(pid, 36), start };
}

/** When a process started, in base 36, and whether it has ended. Undefined where nothing tells. */
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

/** The first text of some files; empty for a system without them, which has one boot as far as names can tell. */
function readFirst(files: readonly string[]): string {
  return files.map((file) => procText(file).trim()).find((text) => text !== "") ?? "";
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
