import { existsSync } from "node:fs";
import { copyFile, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { copyInto, own } from "./project-copy.ts";
import { GATE, type NetworkGate } from "./sandbox-network.ts";
import type { Refusal, Sandbox, SandboxMount } from "./sandbox.ts";

const DRIVERS = "/mounted/drivers";

export function driverIn(
  sandbox: Sandbox,
  room: "checks" | "tools" | "workspace",
  file = "",
): { readonly path: string; readonly mounts: readonly SandboxMount[] } {
  const folder = driverFolder(room);
  if (sandbox.kind !== "bubblewrap") return { path: join(folder, file), mounts: [] };
  return { path: join(DRIVERS, file), mounts: [{ from: folder, to: DRIVERS }] };
}

export function driverFolder(room: string): string {
  let top = import.meta.dirname;
  while (!existsSync(join(top, "src", room, "drivers")) && dirname(top) !== top) top = dirname(top);
  return join(top, "src", room, "drivers");
}

/** The files that programs need for TLS. None of these has a secret. */
const CERTIFICATES = ["/etc/ssl/certs", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"];

export function missingMount(mounts: readonly SandboxMount[] = []): Refusal | undefined {
  const absent = mounts.find(({ from }) => !existsSync(from));
  if (absent === undefined) return undefined;
  return {
    kind: "refused",
    reason: `${absent.from} shall be visible inside and is not there`,
    hint: "Install it, or leave the mount out.",
  };
}

/** Bubblewrap's arguments that show files of this machine, read only. What the user of the sandbox cannot reach is copied first. */
export async function mountWords(
  mounts: readonly SandboxMount[],
  { scratch, owner, signal }: { readonly scratch: string; readonly owner: number | undefined; readonly signal: AbortSignal | undefined },
): Promise<string[]> {
  const words: string[] = [];
  for (const [index, { from, to }] of mounts.entries()) {
    const place = await realpath(from);
    const isOpen = owner === undefined || (await isOpenToAll(place));
    const shown = isOpen ? place : join(scratch, `mount-${index}`);
    if (!isOpen) await copyMount(place, shown, { owner, signal });
    words.push("--ro-bind", shown, to);
  }
  return words;
}

async function copyMount(from: string, to: string, options: { owner: number | undefined; signal: AbortSignal | undefined }): Promise<void> {
  if ((await stat(from)).isDirectory()) {
    await mkdir(to);
    await copyInto(from, to, options);
  } else {
    await copyFile(from, to);
  }
  await own([to], options.owner);
}

export function gateWords(gate: NetworkGate | undefined): string[] {
  return gate === undefined ? [] : ["--ro-bind", gate.path, GATE, ...CERTIFICATES.flatMap((file) => ["--ro-bind-try", file, file])];
}

/** True when every user can enter the folders above a file or folder, and read it. */
export async function isOpenToAll(path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return isReadable(await stat(path));
  }
}

/** True when every user can read and run a file, or read and enter a folder. */
export function isReadable({ mode }: { readonly mode: number }): boolean {
  return (mode & 0o005) === 0o005;
}
