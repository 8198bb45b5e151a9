import { UsageError } from "../../kernel/errors.ts";
import { flowGraphviz, flowJson, flowMermaid } from "../../inspector/flow-drawing.ts";
import { type MessageFlow, messageFlow } from "../../inspector/message-flow.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { loadRun } from "../loaded-run.ts";
import { findRun } from "../run-id.ts";
import { shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import type { Flags } from "../settings.ts";
import { withRuns } from "../store.ts";
import { tellLines } from "../tell-lines.ts";

/** The options of `troupe runs flow`. */
export interface FlowFlags extends Flags {
  readonly format?: string;
}

const FORMATS: Readonly<Record<string, (flow: MessageFlow) => string>> = { mermaid: flowMermaid, dot: flowGraphviz, json: flowJson };

/** `troupe runs flow <id>`: who spoke to whom in a run, as a graph. Ends with 2 when its record is damaged. */
export function runsFlowCommand(host: Host, id: string, flags: FlowFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const draw = formatOf(flags.format);
    return withRuns<ExitCode>(session, flags, async ({ journal }) => {
      const runId = findRun(
        (await journal.runs()).map((run) => run.runId),
        id,
      );
      const events: RunEvent[] = [];
      const { signal } = session.interruptions;
      const visit = (event: RunEvent): void => {
        if (event.type === "message" || event.type === "act.ended") events.push(event);
      };
      const { trouble } = await loadRun(journal, runId, { signal, isTolerant: true, visit });
      const flow = messageFlow(events);
      if (session.json === undefined) await tellLines(session, draw(flow).split("\n"));
      else await session.json.write({ type: "flow", runId, ...flow });
      if (trouble === undefined) return 0;
      session.screen.insist([session.screen.style.bad(`Only so much of it can be read: ${shown(trouble.message)}`)]);
      return 2;
    });
  });
}

function formatOf(text = "mermaid"): (flow: MessageFlow) => string {
  const draw = Object.hasOwn(FORMATS, text) ? FORMATS[text] : undefined;
  if (draw !== undefined) return draw;
  throw new UsageError("OPTION_INVALID", `Expected --format to be one of ${Object.keys(FORMATS).join(", ")}, got "${shown(text, 60)}".`);
}
