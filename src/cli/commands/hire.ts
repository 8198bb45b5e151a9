import { UsageError } from "../../kernel/errors.ts";
import { Team } from "../../team/team.ts";
import { aboutOf } from "../about.ts";
import { crewOf } from "../company.ts";
import { assertSameModule, NO_PORTS } from "../crew-file.ts";
import type { Flags } from "../options.ts";
import { shown } from "../screen/text.ts";
import { report, type Session } from "../session.ts";
import { assertOurs, type Store } from "../store.ts";
import { type LoadedRun, withHeldRun } from "../stored-run.ts";

export function hire(session: Session, flags: Flags, id: string, role: string): Promise<void> {
  const { as: name = role } = flags;
  return withHeldRun(session, flags, id, async (store, run) => {
    const { runId } = run;
    const team = await teamOf(session, store, run, flags);
    await team.hireInto(runId, role, { name, ...onChange(flags) });
    const shownId = shown(runId, 100);
    const hired = `Hired ${shown(role, 60)} into run ${shownId}${name === role ? "" : ` as ${shown(name, 60)}`}`;
    const text = `${hired}. It hears what is said from now on. Continue the run: troupe tell ${shownId} "..."`;
    await report(session, text, { type: "hired", runId, role, name });
  });
}

export function retire(session: Session, flags: Flags, id: string, name: string): Promise<void> {
  return withHeldRun(session, flags, id, async (store, run) => {
    const { runId } = run;
    const team = await teamOf(session, store, run, flags);
    await team.retireFrom(runId, name, onChange(flags));
    const text = `Retired ${shown(name, 60)} from run ${shown(runId, 100)}. Its unread messages are dead letters.`;
    await report(session, text, { type: "retired", runId, name });
  });
}

function onChange({ force }: Flags): { readonly onTeamChange: "continue" | "refuse" } {
  return { onTeamChange: force === true ? "continue" : "refuse" };
}

/** The team of a run with its definitions alone: it asks no model, and works in no folder. */
async function teamOf({ host }: Session, store: Store, { runId, state }: LoadedRun, { force }: Flags): Promise<Team> {
  const about = aboutOf(runId, state.about);
  await assertOurs(store, runId, about, force === true);
  if (force !== true) await assertSameModule(host, about.crew);
  if (about.agent !== undefined)
    throw new UsageError("CREW_UNKNOWN", `Expected a run of a crew, but ${shown(runId, 100)} is one of troupe agent, which works alone.`);
  const { name, roles, reserve = [] } = await crewOf(about, NO_PORTS);
  return new Team({ name, roles, reserve, journal: store.journal });
}
