import type { Action, Message, RoleContext } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";
import { meetingActions, type MeetingDecision } from "../meeting.ts";
import { isOpening } from "../meeting-minutes.ts";
import { filesInPrompt, ProjectFiles } from "../project-files.ts";
import { parted, roleCard } from "../prompt.ts";
import { changingParts, isOrder, newestOrder, sharedParts, type WorkOrder } from "./work-order.ts";

export const DESIGN_REVIEW = "DesignReview";

/** Rounds of a run that the review takes, with the design that follows it. */
export const REVIEW_ROUNDS = 8;

interface DesignReviewOptions {
  readonly workspace: Workspace;
  /** Makes the design, and makes it again if the review decides so. */
  readonly architect: string;
  readonly reviewers: readonly string[];
}

export type DesignReview = Readonly<Record<"open" | "speak" | "decide", Action>>;

/** Those who must build, test and prove a design look at it before they do. What most of them want, the architect changes. */
export function designReview({ workspace, architect, reviewers }: DesignReviewOptions): DesignReview {
  const files = new ProjectFiles(workspace);
  return meetingActions({
    name: DESIGN_REVIEW,
    on: ["DesignSystem"],
    moderator: architect,
    participants: reviewers,
    agenda: [
      "which criterion a product of this design would fail",
      "what cannot be built or tested as its interface is written",
      "pass where nothing is wrong: each change costs a new design",
    ],
    ...{ rounds: 2, words: 150, calls: 3 * reviewers.length + 1, objections: 1 },
    ...{ decide: "majority", otherwise: "moderator", isForModerator: true },
    about: async (ctx) => {
      const order = newestOrder(ctx.memory) as WorkOrder;
      const paths = order.design?.files.map(({ path }) => path) ?? [];
      const shown = filesInPrompt(await files.read(ctx, paths));
      return parted([...sharedParts(order), ...changingParts(order), ["The files of the design", shown]]);
    },
    turn: roleCard,
  });
}

/** Returns the decision among the news of the architect. */
export function reviewIn({ news }: Pick<RoleContext, "news">): MeetingDecision | undefined {
  return news.findLast(({ causeBy }: Message) => causeBy === DESIGN_REVIEW)?.instructContent as MeetingDecision | undefined;
}

/** True where an order has come since the review was opened: another design, or another wish of the user, which has a review of its own. */
export function isOutdated(memory: { get(): readonly Message[] }): boolean {
  const all = memory.get();
  const decided = all.findLastIndex(({ causeBy }) => causeBy === DESIGN_REVIEW);
  const opened = all.slice(0, decided).findLastIndex(({ instructContent }) => isOpening(instructContent));
  return all.slice(opened).some(({ instructContent }) => isOrder(instructContent));
}

/** Returns what the review wants changed, with the objections to it. */
export function wantedChange({ decision, against }: MeetingDecision): readonly string[] {
  if (decision === undefined) return [];
  const objections = against.map(({ by, speech, evidence }) => `${by} objected: ${speech} Evidence: ${evidence}`);
  // No line of a colleague begins a part of the prompt.
  return [decision, ...objections].map((line) => line.replace(/\s+/g, " "));
}
