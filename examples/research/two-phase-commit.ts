// Two-phase commit: a coordinator asks all participants to prepare, and they commit only where all of them voted yes. Where the coordinator dies between
// the votes and the decision, those who voted yes wait: the protocol blocks.
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { figure, figuresText } from "troupe/research";

const PARTICIPANTS = 5;

const participant = (place: number, vote: "yes" | "no", acknowledges: boolean) =>
  defineRole({
    name: `p${place}`,
    watch: ["Prepare", "Decide"],
    state: z.object({ is: z.string().default("working") }),
    step({ is }, { causeBy, content }, out) {
      if (causeBy === "Prepare") {
        out.say(vote, { sendTo: "Coordinator", causeBy: "Vote" });
        return { is: vote === "yes" ? "prepared" : "aborted" };
      }
      if (acknowledges) out.say("done", { sendTo: "Coordinator", causeBy: "Acknowledge" });
      return { is: is === "prepared" ? content : is };
    },
  });

const coordinator = (isMortal: boolean) =>
  defineRole({
    name: "Coordinator",
    watch: [UserRequirement],
    steps(_, messages, out) {
      const votes = messages.filter(({ causeBy }) => causeBy === "Vote");
      if (votes.length === 0 && messages.some(({ causeBy }) => causeBy === UserRequirement.name))
        out.say("prepare", { causeBy: "Prepare" });
      if (votes.length === 0 || isMortal) return;
      out.say(votes.every(({ content }) => content === "yes") ? "committed" : "aborted", { causeBy: "Decide" });
    },
  });

interface Commit {
  readonly sent: number;
  readonly states: readonly unknown[];
}

async function commit(votes: readonly ("yes" | "no")[], { acknowledges = true, isMortal = false } = {}): Promise<Commit> {
  const bank = new Environment({ seed: 1 });
  bank.addRole(coordinator(isMortal));
  bank.addRoles(votes.map((vote, place) => participant(place, vote, acknowledges)));
  bank.publishMessage("commit it");
  const { messages } = await bank.run();
  const inner = messages.filter(({ sentFrom }) => sentFrom !== "");
  // The coordinator writes to each participant.
  const sent = inner.reduce((sum, { sentFrom }) => sum + (sentFrom === "Coordinator" ? votes.length : 1), 0);
  return { sent, states: votes.map((_, place) => bank.getRole(`p${place}`)?.state["is"]) };
}

const allYes = Array.from({ length: PARTICIPANTS }, () => "yes" as const);
const ballots = Array.from({ length: 2 ** PARTICIPANTS }, (_, bits) =>
  allYes.map((yes, place) => ((bits >> place) % 2 === 1 ? yes : "no")),
);
const ended = await Promise.all(ballots.map(async (votes) => (await commit(votes)).states));
const isAtomic = (states: readonly unknown[], nth: number): boolean =>
  states.every((is) => is === (nth === ballots.length - 1 ? "committed" : "aborted"));
const blocked = (await commit(allYes, { isMortal: true })).states.filter((is) => is === "prepared");
const source = "Gray 1978";

export const figures = [
  figure({ name: "two-phase commit: messages of a commit, 4n", source, expected: 4 * PARTICIPANTS, found: (await commit(allYes)).sent }),
  figure({
    name: "two-phase commit: without acknowledgements, 3n",
    source: "Mohan, Lindsay and Obermarck 1986",
    expected: 3 * PARTICIPANTS,
    found: (await commit(allYes, { acknowledges: false })).sent,
  }),
  figure({ name: "two-phase commit: ballots of 32 with one outcome for all", source, expected: 32, found: ended.filter(isAtomic).length }),
  figure({
    name: "two-phase commit: participants blocked by a dead coordinator",
    source: "Skeen 1981",
    expected: PARTICIPANTS,
    found: blocked.length,
  }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
