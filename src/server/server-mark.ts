import { createHash } from "node:crypto";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { OpenedTeam } from "./team-source.ts";
import type { TenantAccount } from "./tenants.ts";

/** The data that a server keeps with a run that it begins. */
export interface ServerMark {
  readonly tenant: string | undefined;
  /** Hash of the request; empty for a run that no server began. */
  readonly request: string;
}

/** Returns the mark of a server in the value that is kept with a run. */
export function serverMark(about: Json | undefined): ServerMark {
  const mark = isRecord(about) ? about["server"] : undefined;
  const { tenant, request } = isRecord(mark) ? mark : {};
  return { tenant: typeof tenant === "string" ? tenant : undefined, request: typeof request === "string" ? request : "" };
}

/** Returns the value that is kept with a run that a server begins. */
export function markedAbout({ about = {} }: OpenedTeam, { name }: TenantAccount, request: string): Json {
  return { ...about, server: { tenant: name, request } };
}

/** Returns the hash of the request that began a run: undefined for no run, empty for a run that no server began. */
export async function requestOf(journal: Journal, id: string): Promise<string | undefined> {
  try {
    for await (const event of journal.read(id, 0)) return event.type === "run.started" ? serverMark(event.about).request : "";
  } catch (error) {
    if (!(error instanceof JournalError && error.code === "RUN_UNKNOWN")) throw error;
  }
  return undefined;
}

/** Returns the sha256 of a text in hexadecimal digits. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
