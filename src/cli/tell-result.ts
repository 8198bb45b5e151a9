import { requestDifference, requestDifferenceText } from "../runtime/replay/difference.ts";
import type { ChosenModel } from "./model-choice.ts";
import type { ResultReport } from "./report.ts";
import { DEFAULT_COLUMNS } from "./screen/live-region.ts";
import { styleFor, wantsColor } from "./screen/style.ts";
import { summaryLines } from "./screen/summary.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { CompanySettings } from "./settings.ts";

/** What a result is told with. */
export interface Telling {
  readonly settings: Pick<CompanySettings, "rounds">;
  readonly chosen: { readonly model: Pick<ChosenModel["model"], "id" | "price">; readonly budget: ChosenModel["budget"] };
  /** The project's folder as the user would type it. */
  readonly place: string;
  /** Names the run. */
  readonly short: string;
}

/** Tells what came of a run: as one line of JSON, or as a summary for a person. */
export async function tellResult(session: Session, report: ResultReport, { settings, chosen, place, short }: Telling): Promise<void> {
  const { host, screen, json } = session;
  if (json !== undefined) return json.write(report);
  const { style, width } = resultStyle(session);
  const { model, budget } = chosen;
  const facts = {
    style,
    width,
    folder: place,
    run: short,
    roundLimit: settings.rounds,
    budget,
    modelId: model.id,
    price: model.price,
    age: screen.age,
    warnings: screen.unseenWarnings,
  };
  host.stdout.write(`${[...summaryLines(report, facts), ...differenceLines(report)].join("\n")}\n`);
}

/** Where a fork first asked what its parent could not answer, with both requests. */
function differenceLines({ fork }: ResultReport): readonly string[] {
  if (fork?.difference === undefined) return [];
  const { act, name, parent, fork: now } = fork.difference;
  const found = requestDifference(parent, now);
  const text = found === undefined ? [] : requestDifferenceText(found, ["parent", "fork"]).split("\n");
  const then = parent === null ? "did not ask" : "asked something else of";
  return ["", `First difference: ${shown(act, 100)} ${then} "${shown(name, 100)}" in the run it was forked from.`, ...text];
}

/** How text on standard output looks, and how wide its lines may be. */
export function resultStyle({ host, output }: Pick<Session, "host" | "output">): {
  readonly style: ReturnType<typeof styleFor>;
  readonly width: number;
} {
  const isTTY = host.stdout.isTTY === true;
  const style = styleFor(wantsColor({ isOff: output.isColorOff, env: host.env, isTTY }));
  return { style, width: isTTY ? (host.stdout.columns ?? DEFAULT_COLUMNS) - 1 : Infinity };
}
