import type { CrewMeeting, CrewRole, CrewSpec } from "./crew-spec.ts";

/** The names of all who attend a meeting, and the causes that call it. */
export function attendants({ moderator, participants }: CrewMeeting): readonly string[] {
  return [...new Set([moderator, ...participants])];
}

export function meetingCauses({ on }: CrewMeeting): readonly string[] {
  return typeof on === "string" ? [on] : on;
}

/** A role that attends a meeting reacts to causes, also where it does nothing else. */
export function withMeetings<R extends CrewRole>(role: R, { meetings = [] }: Pick<CrewSpec, "meetings">): R {
  const attends = meetings.some((meeting) => attendants(meeting).includes(role.name));
  const isAgent = role.tools !== undefined || role.checks !== undefined;
  return attends && role.mode === undefined && !isAgent ? { ...role, mode: "by_cause" } : role;
}
