import { meetingActions, type MeetingTerms } from "../../actions/meeting.ts";
import { type Reaction, ROUTE_TO_ALL, ROUTE_TO_SELF, TeamChange } from "../../src/index.ts";
import { meetingCauses } from "./crew-names.ts";
import type { CrewMeeting, CrewSpec } from "./crew-spec.ts";
import { declare } from "./declared-action.ts";

function termsOf(meeting: CrewMeeting, lead: string | undefined): MeetingTerms {
  const { participants, moderator, rounds, calls, ...rest } = meeting;
  const others = participants.filter((name) => name !== moderator);
  return {
    ...rest,
    on: meetingCauses(meeting),
    participants: others,
    moderator,
    isForModerator: moderator === lead,
    rounds,
    calls: calls ?? (rounds + 1) * others.length + 1,
  };
}

/** Makes the reactions of each role to the meetings of its crew. */
export function meetingReactions({
  meetings = [],
  process,
}: Pick<CrewSpec, "meetings" | "process">): (name: string) => readonly Reaction[] {
  const made = meetings.map((meeting) => {
    const terms = termsOf(meeting, process?.lead);
    const messages = terms.rounds + 1;
    const actions = meetingActions(terms);
    const open = declare(actions.open, { sendTo: terms.participants, limit: messages, mayEnd: false });
    const speak = declare(actions.speak, { sendTo: [terms.moderator], limit: messages, mayEnd: true });
    const decide = declare(actions.decide, {
      sendTo: terms.isForModerator ? [ROUTE_TO_ALL, ROUTE_TO_SELF] : undefined,
      limit: 1,
      mayEnd: true,
    });
    return { terms, open, speak, decide };
  });
  return (name) =>
    made.flatMap(({ terms, open, speak, decide }): readonly Reaction[] => {
      if (terms.moderator === name)
        return [
          { on: terms.on, needs: [], do: open },
          { on: [speak.name, TeamChange], needs: [], do: decide },
        ];
      return terms.participants.includes(name) ? [{ on: open.name, needs: [], do: speak }] : [];
    });
}
