import { describeRole } from "../../inspector/role-description.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { ROUTE_TO_NONE } from "../../message/address.ts";
import type { Message } from "../../message/message.ts";
import { explore } from "../../research/index.ts";
import type { ExploreProgress } from "../../research/explore/exploration.ts";
import { Environment } from "../../runtime/environment.ts";
import { NO_PORTS, openedCrew } from "../crew-file.ts";
import type { ExitCode } from "../errors.ts";
import { counted, elapsed, plural, shownLine } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";
import type { FileCrew, ModuleCrew } from "../settings.ts";

const IDEA = "an idea";
const SCHEDULES = 1_000;
const DEPTH = 40;
const MS = 20_000;

/** Explores the orders of a crew's messages with the answers that its forms allow. Nothing is asked, and nothing runs outside. */
export async function checkSchedules(session: Session, crew: FileCrew | ModuleCrew): Promise<ExitCode> {
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
  throwIfAborted(signal);
  const { findings, text, ...counts } = report;
  const exitCode = findings.length === 0 ? 0 : 1;
  const name = crew.kind === "file" ? crew.name : crew.path;
  const found = findings.map(({ run: _run, ...finding }) => finding);
  await printResult(session, { type: "explored", crew: name, exitCode, ...counts, findings: found }, () =>
    [`${name}:`, ...text.split("\n")].map((line) => shownLine(line)),
  );
  return exitCode;
}

function progressLines({ schedules, findings, ms, notice }: ExploreProgress): readonly string[] {
  if (notice !== undefined) return [notice];
  return ms < 1_000 ? [] : [`${counted(schedules)} schedules, ${plural(findings, "finding")}, ${elapsed(ms)}`];
}
