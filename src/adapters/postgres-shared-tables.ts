import { ControlError } from "../kernel/errors.ts";
import { budgetTables } from "./postgres-budget-tables.ts";
import type { PostgresFault, PostgresPart } from "./postgres-errors.ts";
import { limitRenewal, limitTables } from "./postgres-limit-tables.ts";

/** The channel on which processes are told that a budget or a limit has changed; the payload is its name. */
export function sharedChannel(schema: string): string {
  return `${schema}_shared`;
}

/** The codes of the errors of a budget. */
export const BUDGET_CODES: SharedCodes = {
  unreachable: "BUDGET_UNREACHABLE",
  refused: "BUDGET_REFUSED",
  full: "BUDGET_FULL",
  newer: "BUDGET_NEWER",
  foreign: "BUDGET_FOREIGN",
  closed: "BUDGET_CLOSED",
};

/** The codes of the errors of limits. */
export const LIMITS_CODES: SharedCodes = {
  unreachable: "LIMITS_UNREACHABLE",
  refused: "LIMITS_REFUSED",
  full: "LIMITS_FULL",
  newer: "LIMITS_NEWER",
  foreign: "LIMITS_FOREIGN",
  closed: "LIMITS_CLOSED",
};

/** An error code for each fault of the database. */
type SharedCodes = { readonly [Fault in PostgresFault]: string };

/** Returns the tables of shared budgets and limits. Their errors are interruptions, so a run can be resumed after one. */
export function sharedPart(codes: SharedCodes): PostgresPart {
  return {
    name: "shared budgets and limits",
    steps: [firstTables, limitRenewal],
    error: (fault, message, o) => new ControlError(codes[fault], message, o),
  };
}

/*
 * Each function is one piece of work under the lock of one row, that of its budget or its limit, so that a process asks the server once.
 */
function firstTables(schema: string): string {
  return [presence(schema), budgetTables(schema), limitTables(schema)].join("");
}

/** Seconds after which a process whose lock stays free is gone. A living one connects again within them after a restart of the server. */
const GRACE = 5;

function presence(s: string): string {
  return `
CREATE TABLE ${s}.missing_holders (holder bigint PRIMARY KEY, since timestamptz NOT NULL);

CREATE FUNCTION ${s}.holder_is_gone(asked bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  first_seen timestamptz;
BEGIN
  IF NOT pg_try_advisory_xact_lock_shared(asked) THEN
    DELETE FROM ${s}.missing_holders WHERE holder = asked;
    RETURN false;
  END IF;
  INSERT INTO ${s}.missing_holders VALUES (asked, clock_timestamp()) ON CONFLICT DO NOTHING;
  SELECT since INTO first_seen FROM ${s}.missing_holders WHERE holder = asked;
  IF first_seen IS NULL OR first_seen > clock_timestamp() - interval '${GRACE} seconds' THEN
    RETURN false;
  END IF;
  DELETE FROM ${s}.missing_holders WHERE holder = asked;
  RETURN true;
END $$;

CREATE FUNCTION ${s}.tell_of(named text) RETURNS void LANGUAGE sql AS $$ SELECT pg_notify('${sharedChannel(s.slice(1, -1))}', named) $$;
`;
}
