import { randomBytes } from "node:crypto";
import { IDENTITY, identityIn, identityText, ownProcess, type ProcessIdentity } from "../adapters/process-identity.ts";
import { TEMPORARY_SUFFIX } from "./path-rules.ts";

/**
 * The names of temporary things have the process they belong to, so that a later process can remove what a killed one left.
 *
 * `TemporaryOwner.O2` only names that this file made are ever taken for temporary: {@link ownerOfFile} and {@link ownerOfFolder} match all of
 * a name.
 */
const FILE = new RegExp(String.raw`^\..{1,40}\.${IDENTITY}\.[0-9a-f]{12}${TEMPORARY_SUFFIX.replace(".", String.raw`\.`)}$`, "su");
const SHOWN_NAME = 20;

/** The user and group `nobody`, which owns the copies of a sandbox that root starts. */
export const NOBODY = 65534;

export function temporaryName(name: string, owner: ProcessIdentity = ownProcess()): string {
  const shown = Array.from(name).slice(0, SHOWN_NAME).join("");
  return `.${shown}.${identityText(owner)}.${randomBytes(6).toString("hex")}${TEMPORARY_SUFFIX}`;
}

/** The beginning of the name of a temporary folder. @param kind such as `troupe-sandbox-` */
export function temporaryPrefix(kind: string, owner: ProcessIdentity = ownProcess()): string {
  return `${kind}${identityText(owner)}-`;
}

/** The owner of a file by the name {@link temporaryName} made. Undefined for every other name. */
export function ownerOfFile(name: string): ProcessIdentity | undefined {
  return ownerIn(FILE.exec(name));
}

/** The owner of a folder by a name {@link temporaryPrefix} began. Undefined for every other name. */
export function ownerOfFolder(name: string): ProcessIdentity | undefined {
  return ownerIn(new RegExp(String.raw`^\.?troupe-[a-z]+-${IDENTITY}-[0-9A-Za-z]{6}$`, "u").exec(name));
}

function ownerIn(match: RegExpExecArray | null): ProcessIdentity | undefined {
  return match === null ? undefined : identityIn(match.slice(1).join("-"));
}
