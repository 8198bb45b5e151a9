import { meetingActions, type MeetingTerms } from "../../actions/meeting.ts";
import type { Reaction } from "../../src/index.ts";
import type { CrewMeeting, CrewRole, CrewSpec } from "./crew-spec.ts";
import { declare } from "./declared-action.ts";

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

function termsOf({ on: _on, participants, moderator, rounds, calls, ...rest }: CrewMeeting): MeetingTerms {
  const others = participants.filter((name) => name !== moderator);
  return { ...rest, participants: others, moderator, rounds, calls: calls ?? (rounds + 1) * others.length + 1 };
}

/** Makes the reactions of each role to the meetings of its crew. */
export function meetingReactions({ meetings = [] }: Pick<CrewSpec, "meetings">): (name: string) => readonly Reaction[] {
  const made = meetings.map((meeting) => {
    const terms = termsOf(meeting);
    const messages = terms.rounds + 1;
    const actions = meetingActions(terms);
    const open = declare(actions.open, { sendTo: terms.participants, limit: messages, mayEnd: false });
    const speak = declare(actions.speak, { sendTo: [terms.moderator], limit: messages, mayEnd: true });
    const decide = declare(actions.decide, { sendTo: undefined, limit: 1, mayEnd: true });
    return { terms, open, speak, decide, on: meetingCauses(meeting) };
  });
  return (name) =>
    made.flatMap(({ terms, open, speak, decide, on }): readonly Reaction[] => {
      if (terms.moderator === name)
        return [
          { on, needs: [], do: open },
          { on: speak.name, needs: [], do: decide },
        ];
      return terms.participants.includes(name) ? [{ on: open.name, needs: [], do: speak }] : [];
    });
}
