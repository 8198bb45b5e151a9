import { createHash } from "node:crypto";
import type { OutsideMessage } from "../client/wire.ts";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { Scope } from "../kernel/scope.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { createMessage, type Message } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { ResumeOptions } from "../team/team-options.ts";
import type { OpenedTeam } from "./server-options.ts";
import type { TenantAccount } from "./tenants.ts";

export function bounds(
  { rounds, budget }: { readonly rounds?: number | undefined; readonly budget?: number | undefined },
  opened: Pick<OpenedTeam, "rounds">,
): Pick<ResumeOptions, "rounds"> & { readonly budget?: MicroUsd } {
  const most = rounds ?? opened.rounds;
  return { ...(most === undefined ? {} : { rounds: most }), ...(budget === undefined ? {} : { budget: budget as MicroUsd }) };
}

export function scopeOf({ name }: TenantAccount, conversation: string, user: string | undefined): Scope {
  return { ...(name === "" ? {} : { tenant: name }), ...(user === undefined ? {} : { user }), conversation };
}

export function messageOf({ content, user: _user, ...fields }: OutsideMessage): Message | string {
  const { id, sendTo, causeBy, files } = fields;
  const given = { ...(id && { id }), ...(sendTo && { sendTo }), ...(causeBy && { causeBy }), ...(files && { files }) };
  return Object.keys(given).length === 0 ? content : createMessage(content, given);
}

/** Returns whether a request of a tenant may read a run: its own, or one of no tenant, which may be inside its own. */
export function readBy(account: TenantAccount, accounts: readonly TenantAccount[]): (runId: string) => boolean {
  return (runId) => account.owns(runId) || !accounts.some((other) => other.owns(runId));
}

export function namingOwn(account: TenantAccount, error: unknown): unknown {
  if (!(error instanceof JournalError && error.code === "RUN_OWNED" && isRecord(error.data))) return error;
  const { runId, ...rest } = error.data;
  if (typeof runId !== "string" || account.owns(runId)) return error;
  const text = "Expected to forget runs at rest, but a run inside one of them is under way. Try again when it has ended.";
  return new JournalError("RUN_OWNED", text, { cause: error, data: rest });
}

export function serverMark(about: Json | undefined) {
  const mark = isRecord(about) ? about["server"] : undefined;
  const { tenant, request } = isRecord(mark) ? mark : {};
  return { tenant: typeof tenant === "string" ? tenant : undefined, request: typeof request === "string" ? request : "" };
}

export function markedAbout({ about = {} }: OpenedTeam, { name }: TenantAccount, request: string): Json {
  return { ...about, server: { tenant: name, request } };
}

export async function requestOf(journal: Journal, id: string): Promise<string | undefined> {
  try {
    for await (const event of journal.read(id, 0)) return event.type === "run.started" ? serverMark(event.about).request : "";
  } catch (error) {
    if (!(error instanceof JournalError && error.code === "RUN_UNKNOWN")) throw error;
  }
  return undefined;
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
