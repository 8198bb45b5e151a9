import type { ExploreReport } from "./explore.ts";
import type { ExploreBounds } from "./exploration.ts";
import type { WalkRules } from "./walk.ts";

const WHY: Readonly<Record<ExploreReport["endedBy"], string>> = {
  "all schedules": "all schedules were visited",
  schedules: "its limit of schedules ended it",
  ms: "its limit of time ended it",
  findings: "its limit of findings ended it",
  signal: "its signal ended it",
};

const SHOWN = 12;
const LAST = 4;

export function estimateText(count: number, digits: number): string {
  return count === Number.MAX_VALUE ? "More than 1e+308" : `About ${count.toExponential(digits)}`;
}

/** A long schedule is shown without its middle. */
function shownLine(step: string, index: number, length: number): readonly string[] {
  if (length <= 2 * SHOWN || index < SHOWN || index >= length - LAST) return [`  ${index + 1}. ${step}`];
  return index === SHOWN ? ["  ..."] : [];
}

/** Returns what was covered, within which bounds, and what was found, line by line. */
export function reportText(
  report: Omit<ExploreReport, "text">,
  { by, schedules, ms }: ExploreBounds,
  { faults, questions }: WalkRules,
): string {
  const { isComplete, findings, endedBy, walks, left, deep, depth, estimate } = report;
  const cut = questions.cut();
  const found = findings.length === 0 ? "nothing was found" : findings.length === 1 ? "1 finding" : `${findings.length} findings`;
  const proof = isComplete ? "Complete within its bounds" : "Not complete";
  return [
    `${proof}: ${WHY[endedBy]}, ${found}.`,
    `Covered: ${report.schedules} schedules (${walks} of them drawn, ${left} left as equivalent) of ${estimateText(estimate, 1).toLowerCase()}, ${report.steps} steps, in ${(report.ms / 1_000).toFixed(1)} seconds.`,
    `At most ${report.roles} roles, ${report.messages} messages, ${report.longest} steps and ${report.faults} faults in one schedule.`,
    `Bounds: ${by === "orders" ? "" : `walks by ${by}, `}${schedules} schedules, ${depth} steps, ${faults.most} faults, ${ms / 1_000} seconds.`,
    ...(deep === 0 ? [] : [`${deep} schedules did not end within ${depth} steps.`]),
    ...(cut === 0 ? [] : [`${cut} questions have more answers than were tried.`]),
    ...findings.flatMap(({ kind, text, schedule, isShortest, foundAt }) => [
      "",
      `${kind}: ${text}`,
      ...schedule.flatMap((step, index) => shownLine(step, index, schedule.length)),
      `  (${isShortest ? "the shortest schedule" : "the shortest that was found"}; first seen in schedule ${foundAt})`,
    ]),
  ].join("\n");
}
