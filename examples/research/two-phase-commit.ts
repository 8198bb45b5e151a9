// Two-phase commit: a coordinator asks all participants to prepare, and they commit only where all of them voted yes. Where the coordinator dies between
// the votes and the decision, those who voted yes wait: the protocol blocks.
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { study } from "troupe/research";

const PARTICIPANTS = 5;
type Fault = "none" | "no acknowledgements" | "dead coordinator";

const participant = (place: number, vote: string, fault: Fault) =>
  defineRole({
    name: `p${place}`,
    watch: ["Prepare", "Decide"],
    state: z.object({ is: z.string().default("working") }),
    step({ is }, { causeBy, content }, out) {
      if (causeBy === "Prepare") {
        out.say(vote, { sendTo: "Coordinator", causeBy: "Vote" });
        return { is: vote === "yes" ? "prepared" : "aborted" };
      }
      if (fault !== "no acknowledgements") out.say("done", { sendTo: "Coordinator", causeBy: "Acknowledge" });
      return { is: is === "prepared" ? content : is };
    },
  });

const coordinator = (fault: Fault) =>
  defineRole({
    name: "Coordinator",
    watch: [UserRequirement],
    steps(_, messages, out) {
      const votes = messages.filter(({ causeBy }) => causeBy === "Vote");
      if (messages.some(({ content }) => content === "commit it")) out.say("prepare", { causeBy: "Prepare" });
      if (votes.length === 0 || fault === "dead coordinator") return;
      out.say(votes.every(({ content }) => content === "yes") ? "committed" : "aborted", { causeBy: "Decide" });
    },
  });

/** Returns the number of messages, and how many participants are in a state. The coordinator writes to each of them. */
async function commit(votes: readonly string[], fault: Fault = "none") {
  const bank = new Environment({ seed: 1 }).addRole(coordinator(fault));
  bank.addRoles(votes.map((vote, place) => participant(place, vote, fault)));
  bank.publishMessage("commit it");
  const { messages } = await bank.run();
  const sentBy = (isCoordinator: boolean) => messages.filter(({ sentFrom }) => (sentFrom === "Coordinator") === isCoordinator).length;
  const count = (state: string) => votes.filter((_, place) => bank.getRole(`p${place}`)?.state["is"] === state).length;
  return { sent: PARTICIPANTS * sentBy(true) + sentBy(false) - 1, count };
}

const allYes = Array.from({ length: PARTICIPANTS }, () => "yes");
const ballots = Array.from({ length: 32 }, (_, bits) => allYes.map((yes, place) => ((bits >> place) % 2 === 1 ? yes : "no")));
const ended = await Promise.all(ballots.map((votes) => commit(votes)));
const atomic = ended.filter(({ count }, nth) => count(nth === 31 ? "committed" : "aborted") === PARTICIPANTS);
const [whole, quiet, dead] = [await commit(allYes), await commit(allYes, "no acknowledgements"), await commit(allYes, "dead coordinator")];

export const figures = study({ name: "two-phase commit", source: "Gray 1978" }).report([
  { name: "messages of a commit, 4n", expected: 4 * PARTICIPANTS, found: whole.sent },
  { name: "without acknowledgements, 3n", source: "Mohan, Lindsay and Obermarck 1986", expected: 3 * PARTICIPANTS, found: quiet.sent },
  { name: "ballots of 32 with one outcome for all", expected: 32, found: atomic.length },
  { name: "participants blocked by a dead coordinator", source: "Skeen 1981", expected: PARTICIPANTS, found: dead.count("prepared") },
]);
