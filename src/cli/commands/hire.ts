import { UsageError } from "../../kernel/errors.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import { Team } from "../../team/team.ts";
import { aboutOf, recordedSettings, standingOf } from "../about.ts";
import { crewOf } from "../company.ts";
import { assertSameModule, NO_PORTS } from "../crew-file.ts";
import type { ExitCode } from "../errors.ts";
import type { Flags } from "../options.ts";
import { shown } from "../screen/text.ts";
import { report, type Session } from "../session.ts";
import { assertOurs, type Store, withRuns } from "../store.ts";
import { holdingRun, type LoadedRun, loadRun } from "../stored-run.ts";
import { assertNotEmpty } from "./resume.ts";

export function hire(session: Session, flags: Flags, id: string, role: string): Promise<ExitCode> {
  const { as: name = role } = flags;
  return changing(session, id, flags, async (team, runId) => {
    await team.hireInto(runId, role, { name, ...onChange(flags) });
    const run = shown(runId, 100);
    const text = `Hired ${shown(role, 60)} into run ${run}${name === role ? "" : ` as ${shown(name, 60)}`}. It hears what is said from now on.`;
    return { text: `${text} Continue the run: troupe tell ${run} "..."`, facts: { type: "hired", runId, role, name } };
  });
}

export function retire(session: Session, flags: Flags, id: string, name: string): Promise<ExitCode> {
  return changing(session, id, flags, async (team, runId) => {
    await team.retireFrom(runId, name, onChange(flags));
    const text = `Retired ${shown(name, 60)} from run ${shown(runId, 100)}. Its unread messages are dead letters.`;
    return { text, facts: { type: "retired", runId, name } };
  });
}

function onChange({ force }: Flags): { readonly onTeamChange: "continue" | "refuse" } {
  return { onTeamChange: force === true ? "continue" : "refuse" };
}

interface Done {
  readonly text: string;
  readonly facts: object;
}

function changing(session: Session, id: string, flags: Flags, change: (team: Team, runId: string) => Promise<Done>): Promise<ExitCode> {
  return withRuns(session, flags, (store) =>
    holdingRun<ExitCode>(store, id, async (runId) => {
      const run = await loadRun(store.journal, runId, { signal: session.interruptions.signal });
      assertNotEmpty(run);
      const { text, facts } = await change(await teamOf(session, store, run, flags), runId);
      await report(session, text, facts);
      return 0;
    }),
  );
}

async function teamOf(session: Session, store: Store, { runId, state }: LoadedRun, flags: Flags): Promise<Team> {
  const about = aboutOf(runId, state.about);
  await assertOurs(store, runId, about, flags.force === true);
  if (flags.force !== true) await assertSameModule(session.host, about.crew);
  return definingTeam(store, runId, state);
}

/** The team of a run with its definitions alone: it asks no model, and works in no folder. */
export async function definingTeam(store: Pick<Store, "journal">, runId: string, state: RunState): Promise<Team> {
  const about = aboutOf(runId, state.about);
  const settings = recordedSettings(about, standingOf(state, false), {});
  if (settings.agent !== undefined) {
    throw new UsageError("CREW_UNKNOWN", `Expected a run of a crew, but ${shown(runId, 100)} is one of troupe agent, which works alone.`);
  }
  const { name, roles, reserve = [] } = await crewOf(settings, NO_PORTS);
  return new Team({ name, roles, reserve, journal: store.journal });
}
