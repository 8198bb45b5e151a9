import type { Logger } from "../kernel/emit.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { RunResult } from "../runtime/run-result.ts";

/** Returns a logger that never throws: no request and no run fails because nobody could write about it. */
export function sureLogger(logger: Logger): Logger {
  const at =
    (level: keyof Logger): Logger["info"] =>
    (text, fields) => {
      try {
        logger[level](text, fields);
      } catch {
        // There is no other place to tell it.
      }
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Logs an event of a run: names and numbers, never the text of a message. */
export function logEvent(logger: Logger, tenant: string, event: RunEvent): void {
  const about = { run: event.runId, tenant };
  switch (event.type) {
    case "run.started":
      return logger.info("A run started.", { ...about, team: event.team });
    case "run.resumed":
      return logger.info("A run goes on.", { ...about, uncertain: event.uncertain.length });
    case "act.ended":
      return logger.debug("A role acted.", { ...about, role: event.role, round: event.round, said: event.said.length });
    case "act.failed":
      return logger.warn("A role failed.", { ...about, role: event.role, code: event.error.code, next: event.then });
    default:
  }
}

/** Logs that a run is at rest. */
export function logRest(logger: Logger, tenant: string, { runId, status, error, cost, rounds }: RunResult): void {
  const fields = { run: runId, tenant, status, cost: cost.known, rounds, code: error?.code };
  if (status === "failed") logger.error("A run failed.", fields);
  else logger.info("A run is at rest.", fields);
}
