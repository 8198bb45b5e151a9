// Two clerks sell from one store. All orders of their messages are explored: one of them loses a sale, and none does once the store counts itself.
import { z } from "zod";
import { createMessage, defineRole, Environment, type EnvironmentOptions, memoryJournal, type Role } from "troupe";
import { explore } from "troupe/research";

// #region sale
const clerk = (name: string) =>
  defineRole({
    name,
    watch: [],
    step(_state, { content }, out) {
      if (content === "open") out.say("how many are left?", { sendTo: "Store" });
      else out.say(`${Number(content) - 1} are left`, { sendTo: "Store" });
    },
  });

const store = defineRole({
  name: "Store",
  watch: [],
  state: z.object({ left: z.number().default(10) }),
  step({ left }, { content, sentFrom }, out) {
    if (content !== "how many are left?") return { left: Number.parseInt(content, 10) };
    out.say(String(left), { sendTo: sentFrom });
    return { left };
  },
});
// #endregion

// #region explore
const shop = (roles: readonly Role[]) => (given: EnvironmentOptions) => {
  const world = new Environment(given).addRoles(roles);
  world.publishMessage(createMessage("open", { sendTo: ["Ann", "Bob"] }));
  return world;
};
const report = await explore(shop([clerk("Ann"), clerk("Bob"), store]), {
  property: ({ isEnd, state }) => !isEnd || state("Store")["left"] === 8 || "a sale is lost",
});
console.log(report.text);
// #endregion

// #region record
const journal = memoryJournal();
const [finding] = report.findings;
const run = await finding?.run({ journal, id: "lost-sale" });
console.log(run?.status, run?.messages.length);

const again = shop([clerk("Ann"), clerk("Bob"), store])({ scheduler: { name: "messages", follow: finding?.follow ?? [] } });
await again.run();
console.log(again.getRole("Store")?.state["left"]);
// #endregion

// #region repaired
const seller = (name: string) =>
  defineRole({ name, watch: [], step: (_state, _message, out) => void out.say("sold", { sendTo: "Store" }) });
const counter = defineRole({
  name: "Store",
  watch: [],
  state: z.object({ left: z.number().default(10) }),
  step: ({ left }) => ({ left: left - 1 }),
});
const repaired = shop([seller("Ann"), seller("Bob"), counter]);
const whole = await explore(repaired, { done: ({ state }) => state("Store")["left"] === 8 });
const lossy = await explore(repaired, { done: ({ state }) => state("Store")["left"] === 8, faults: { lose: ["*->Store"] } });
console.log(whole.isComplete, whole.findings.length, lossy.findings.map(({ kind }) => kind).join());
// #endregion
