import type { OutsideMessage } from "../client/wire.ts";
import { JournalError } from "../kernel/errors.ts";
import type { Scope } from "../kernel/scope.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { createMessage, type Message } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import type { ResumeOptions } from "../team/team-options.ts";
import type { OpenedTeam } from "./team-source.ts";
import type { TenantAccount } from "./tenants.ts";

/** Returns the bounds of a run: those that a request asks for, else those of its team. */
export function bounds(
  { rounds, budget }: { readonly rounds?: number | undefined; readonly budget?: number | undefined },
  opened: Pick<OpenedTeam, "rounds">,
): Pick<ResumeOptions, "rounds"> & { readonly budget?: MicroUsd } {
  const most = rounds ?? opened.rounds;
  return { ...(most === undefined ? {} : { rounds: most }), ...(budget === undefined ? {} : { budget: budget as MicroUsd }) };
}

/** Returns whose words a run has: those of the user that the tenant names, in its own conversation. */
export function scopeOf({ name }: TenantAccount, conversation: string, user: string | undefined): Scope {
  return { ...(name === "" ? {} : { tenant: name }), ...(user === undefined ? {} : { user }), conversation };
}

/** Returns the message of a request. */
export function messageOf({ content, id, sendTo, causeBy }: OutsideMessage): Message | string {
  const fields = {
    ...(id === undefined ? {} : { id }),
    ...(sendTo === undefined ? {} : { sendTo }),
    ...(causeBy === undefined ? {} : { causeBy }),
  };
  return Object.keys(fields).length === 0 ? content : createMessage(content, fields);
}

/** Returns whether a request of a tenant may read a run: its own, or one of no tenant, which may be inside its own. */
export function readBy(account: TenantAccount, accounts: readonly TenantAccount[]): (runId: string) => boolean {
  return (runId) => account.owns(runId) || !accounts.some((other) => other.owns(runId));
}

/** Returns an error of `forget` that names no run but the tenant's. */
export function namingOwn(account: TenantAccount, error: unknown): unknown {
  if (!(error instanceof JournalError && error.code === "RUN_OWNED" && isRecord(error.data))) return error;
  const { runId, ...rest } = error.data;
  if (typeof runId !== "string" || account.owns(runId)) return error;
  const text = "Expected to forget runs at rest, but a run inside one of them is under way. Try again when it has ended.";
  return new JournalError("RUN_OWNED", text, { cause: error, data: rest });
}
