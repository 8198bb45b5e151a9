import { randomBytes } from "node:crypto";
import { describeRole } from "../../inspector/role-description.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { defined } from "../../kernel/value-kind.ts";
import { ROUTE_TO_NONE } from "../../message/address.ts";
import type { Message } from "../../message/message.ts";
import { explore } from "../../research/index.ts";
import type { ExploreProgress } from "../../research/explore/exploration.ts";
import { Environment } from "../../runtime/environment.ts";
import { NO_PORTS, openedCrew } from "../crew-file.ts";
import type { ExitCode } from "../errors.ts";
import type { Flags } from "../options.ts";
import { counted, elapsed, plural, shownLine } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";
import type { FileCrew, ModuleCrew } from "../settings.ts";
import { type Store, withStore } from "../store.ts";

const IDEA = "an idea";
const SCHEDULES = 1_000;
const DEPTH = 40;
const MS = 20_000;

/** Explores the orders of a crew's messages with the answers that its forms allow. Nothing is asked, and nothing runs outside. */
export function checkSchedules(session: Session, crew: FileCrew | ModuleCrew, flags: Flags): Promise<ExitCode> {
  if (flags.store === undefined) return explored(session, crew);
  return withStore(session, flags, async (store) => {
    await store.ready();
    return explored(session, crew, store);
  });
}

async function explored(session: Session, crew: FileCrew | ModuleCrew, store?: Store): Promise<ExitCode> {
  const { roles, output } = await openedCrew(crew, NO_PORTS);
  const watched = new Set(roles.flatMap((role) => describeRole(role).watch));
  const isOutput = ({ causeBy, sendTo }: Message): boolean =>
    output === undefined ? sendTo.includes(ROUTE_TO_NONE) || !watched.has(causeBy) : output.includes(causeBy);
  const { signal } = session.interruptions;
  const report = await explore(
    (given) => {
      const world = new Environment(given).addRoles(roles);
      world.publishMessage(IDEA);
      return world;
    },
    {
      done: ({ messages }) => messages.some(isOutput),
      answers: () => [],
      faults: { fail: ["*"] },
      ...{ schedules: SCHEDULES, depth: DEPTH, ms: MS, signal },
      progress: (progress) => session.screen.print(progressLines(progress)),
    },
  );
  const { findings, text, ...counts } = report;
  const exitCode = findings.length === 0 ? 0 : 1;
  const name = crew.kind === "file" ? crew.name : crew.path;
  const ids: string[] = [];
  if (store !== undefined)
    for (const { kind, run } of findings)
      ids.push((await run({ journal: store.journal, id: `${kind}-${randomBytes(4).toString("hex")}` })).runId);
  const found = findings.map(({ run: _run, ...finding }, nth) => ({ ...finding, ...defined({ runId: ids[nth] }) }));
  const see = ids.length === 0 ? [] : ["", `Kept: ${ids.join(", ")}. See: troupe inspect${store?.option ?? ""}`];
  // An exploration that was stopped shows whole what it covered.
  await printResult(session, { type: "explored", crew: name, exitCode, ...counts, findings: found }, () => [
    [`${name}:`, ...text.split("\n"), ...see].map((line) => shownLine(line)).join("\n"),
  ]);
  throwIfAborted(signal);
  return exitCode;
}

function progressLines({ schedules, findings, ms, notice }: ExploreProgress): readonly string[] {
  if (notice !== undefined) return [notice];
  return ms < 1_000 ? [] : [`${counted(schedules)} schedules, ${plural(findings, "finding")}, ${elapsed(ms)}`];
}
