/** Another process has the run, or the journal, a budget or a limit cannot be reached. Such a run can be retried without limit. */
export const PASSING_CODES: ReadonlySet<string> = new Set([
  ...["RUN_OWNED", "EPOCH_STALE", "SEQ_MISMATCH", "MOVED"],
  ...["JOURNAL_UNREACHABLE", "JOURNAL_UNWRITABLE", "JOURNAL_FULL", "JOURNAL_CLOSED"],
  ...["OBJECTS_UNREACHABLE", "OBJECTS_REFUSED", "OBJECTS_BUSY", "OBJECT_CONFLICT"],
  ...["BUDGET_UNREACHABLE", "BUDGET_REFUSED", "BUDGET_FULL", "BUDGET_CLOSED"],
  ...["LIMITS_UNREACHABLE", "LIMITS_REFUSED", "LIMITS_FULL", "LIMITS_CLOSED"],
]);
