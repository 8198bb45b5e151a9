import { defineRole, memoryJournal, type RunEvent, Team } from "../../../src/index.ts";
import type { EdgePolicy } from "../../../src/runtime/edges/edge-policy.ts";
import { delay, duplicate } from "../../../src/edges/index.ts";
import { eventsOf } from "../../team/recorded.ts";

const lossy: EdgePolicy = { name: "lossy", parameters: { share: 0.5 }, pairs: ["Ann->Bob"], decide: () => ({ kind: "drop" }) };
const liar: EdgePolicy = {
  name: "liar",
  pairs: ["Ann->Cid"],
  decide: ({ message }) => ({ kind: "rewrite", content: message.content.replace("true", "false") }),
};

/** The events of a run in simulated time, whose edges lose, rewrite, double and delay: Ann tells all, Cid answers her, and she wakes herself. */
export async function faultyRun(id = "faulty"): Promise<readonly RunEvent[]> {
  const journal = memoryJournal();
  const ann = defineRole({
    name: "Ann",
    watch: ["UserRequirement"],
    step: (_state, { causeBy }, out) => {
      if (causeBy !== "UserRequirement") return;
      out.say("It is true.", { sendTo: ["Bob", "Cid"] });
      out.after(2.5, "wake", { sendTo: "<self>" });
    },
  });
  const bob = defineRole({ name: "Bob", watch: [], step: () => undefined });
  const cid = defineRole({ name: "Cid", watch: [], step: (_state, _message, out) => void out.say("Thanks.", { sendTo: "Ann" }) });
  const edges = [lossy, liar, duplicate(1).on("Ann->Cid"), delay(3).on("Cid->Ann")];
  const team = new Team({ name: "Rumours", roles: [ann, bob, cid], edges, scheduler: "events", seed: "s", journal });
  await team.run("go", { id }).result;
  return eventsOf(journal, id);
}
