import { assignedCause, decidedCause, processActions } from "../../actions/process.ts";
import { batchName, type ProcessTerms, type StageTerms, workedCause } from "../../actions/process-flow.ts";
import { type Reaction, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, TeamChange, UsageError, UserFeedback } from "../../src/index.ts";
import type { board } from "../../src/tools/index.ts";
import { readYaml } from "../../src/adapters/yaml.ts";
import { listOf, meetingCauses, modeOf, processName, watchOf, withSeat } from "./crew-names.ts";
import { type CrewFile, crewForm, type CrewProcess, type CrewSpec } from "./crew-spec.ts";
import { declare } from "./declared-action.ts";

/** An item that passes all stages, each back as often as it may: the most that a lead assigns. */
const MOST_ASSIGNED = 10_000;

function termsOf(crew: CrewSpec, { batch, stages, ...rest }: CrewProcess): ProcessTerms {
  const { roles = [], reserve = [] } = crew;
  const isAgent = (name: string): boolean =>
    [...roles, ...reserve].some((role) => role.name === name && modeOf(withSeat(role, crew)) === "agent");
  return {
    ...rest,
    name: processName(crew),
    list: listOf(crew, rest.backlog),
    stages: stages.map(({ limit = Infinity, back, ...stage }): StageTerms => ({
      ...stage,
      limit,
      back: back ?? stage.name,
      agents: stage.by.filter(isAgent),
    })),
    ...(batch === undefined ? {} : { batch: { ...batch, size: batch.size === "all" ? Infinity : batch.size } }),
  };
}

/** A batch without a meeting is news to nobody, which is no fault of the crew. */
function addressesOf({ roles = [], reserve = [], meetings = [] }: CrewSpec, cause: string): readonly string[] {
  const heard = [...meetings.flatMap(meetingCauses), ...[...roles, ...reserve].flatMap((role) => watchOf(role, []))];
  return heard.includes(cause) ? [ROUTE_TO_ALL, ROUTE_TO_SELF] : [ROUTE_TO_NONE];
}

/** Makes the reactions of each role to the process of its crew. An agent works on what it is assigned by itself. */
export function processReactions(crew: CrewSpec, tasks: ReturnType<typeof board> | undefined): (name: string) => readonly Reaction[] {
  const { process } = crew;
  if (process === undefined || tasks === undefined) return () => [];
  const terms = termsOf(crew, process);
  const actions = processActions(terms, tasks);
  const workers = [...new Set(terms.stages.flatMap(({ by }) => by))];
  const [decided, assigned, worked] = [decidedCause(terms.name), assignedCause(terms.name), workedCause(terms.name)];
  const title = batchName(terms);
  const addresses: Readonly<Record<string, readonly string[]>> = {
    [decided]: [ROUTE_TO_NONE],
    [assigned]: workers,
    ...Object.fromEntries([title, `${title} ended`].map((cause) => [cause, addressesOf(crew, cause)])),
  };
  const lead = actions.lead.map((action) =>
    declare(action, { sendTo: addresses[action.name], limit: MOST_ASSIGNED, mayEnd: true, calls: 0 }),
  );
  const work = declare(actions.work, { sendTo: [terms.lead], limit: MOST_ASSIGNED, mayEnd: true });
  const { before, after } = terms.batch ?? {};
  const heard = [terms.backlog, worked, UserFeedback.name, TeamChange.name, ...[before, after].filter((cause) => cause !== undefined)];
  return (name) => {
    if (name === terms.lead) return lead.map((action) => ({ on: heard, needs: [], do: action }));
    return workers.includes(name) ? [{ on: assigned, needs: [], do: work }] : [];
  };
}

/** From a source, a compiled file and a bundle. */
const FOLDERS = ["../../", "../../../", "../"];

/** Returns the crew of a shipped process, changed by the members of a crew file. A role of the same name takes the place of the shipped one. */
export async function withShippedProcess({ process, ...own }: CrewFile, name: string): Promise<CrewSpec> {
  const { readFile } = await import("node:fs/promises");
  for (const folder of FOLDERS) {
    const file = new URL(`${folder}templates/processes/${process as string}.yaml`, import.meta.url);
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    const shipped = await readYaml(text, { schema: crewForm, name, code: "CREW_INVALID" });
    const others = (shipped.roles ?? []).filter((role) => !(own.roles ?? []).some((one) => one.name === role.name));
    return { ...shipped, ...own, process: shipped.process, roles: [...others, ...(own.roles ?? [])] };
  }
  throw new UsageError(
    "TEMPLATE_MISSING",
    `Expected the file of the process ${process as string} in this package, got none. Install it again.`,
  );
}
