// Faults on the way: a clerk sends letters and repeats each until it is acknowledged. The same letters go over lines of three qualities, and to an
// office that is closed for a while. Then a policy of one's own, and named streams of random numbers.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import type { EdgePolicy } from "troupe/ports";
import { crash, delay, drop } from "troupe/edges";

// #region roles
const LETTERS = 500;
const PATIENCE = 4;

const clerk = defineRole({
  name: "Clerk",
  watch: [],
  state: z.object({ acknowledged: z.array(z.number()).default([]), sendings: z.number().default(0) }),
  steps({ acknowledged, sendings }, messages, out) {
    const known = new Set([...acknowledged, ...messages.filter(({ sentFrom }) => sentFrom === "Office").map(numberIn)]);
    const first = messages.some(({ content }) => content === "go") ? Array.from({ length: LETTERS }, (_, nth) => nth) : [];
    const again = messages.filter(({ content }) => content.startsWith("check ")).map(numberIn);
    const due = [...first, ...again].filter((letter) => !known.has(letter));
    for (const letter of due) {
      out.say(`letter ${letter}`, { sendTo: "Office" });
      out.after(PATIENCE, `check ${letter}`, { sendTo: "<self>" });
    }
    return { acknowledged: [...known], sendings: sendings + due.length };
  },
});

const office = defineRole({
  name: "Office",
  watch: [],
  step: (_state, message, out) => void out.say(`received ${numberIn(message)}`, { sendTo: "Clerk" }),
});

function numberIn({ content }: { readonly content: string }): number {
  return Number(content.split(" ")[1]);
}
// #endregion

// #region faults
async function letters(edges: readonly EdgePolicy[]) {
  const post = new Environment({ seed: 1, edges }).addRoles([clerk, office]);
  const lost = new Set<string>();
  post.on("message.fault", ({ message, fault }) => {
    if (fault.arrives.length === 0) lost.add(message.id);
  });
  post.publishMessage(createMessage("go", { sendTo: "Clerk" }));
  const { rounds, faults } = await post.run({ rounds: 1_000 });
  const sendings = Number(post.getRole("Clerk")?.state["sendings"]);
  return { rounds, faults, lost, mean: sendings / LETTERS };
}

for (const rate of [0, 0.1, 0.3]) {
  const { mean, faults } = await letters([drop(rate)]);
  const expected = 1 / (1 - rate) ** 2; // a letter and its answer must both arrive
  console.log(`loss ${rate}: ${mean.toFixed(2)} sendings a letter, ${expected.toFixed(2)} expected, ${faults?.lost} messages lost`);
}

const closed = await letters([crash("Office").during(1, 9)]);
console.log(`an office that opens in round 9: ${closed.mean} sendings a letter`);

const slow = await letters([delay(3).on("Office->Clerk")]);
console.log(`answers that take 3 rounds more: ${slow.mean} sendings a letter`);
// #endregion

// #region levels
const few = await letters([drop(0.1)]);
const many = await letters([drop(0.3)]);
const firstLetters = [...few.lost].filter((id) => id.startsWith("Clerk#0."));
console.log(
  `of ${firstLetters.length} first letters lost at 0.1, ${firstLetters.filter((id) => many.lost.has(id)).length} are lost at 0.3`,
);
// #endregion

// #region own
const censor: EdgePolicy = {
  name: "censor",
  parameters: { share: 0.5 },
  pairs: ["Clerk->*"],
  decide: ({ message, random }) =>
    message.content.endsWith("7") && random() < 0.5 ? { kind: "rewrite", content: message.content.replace("7", "1") } : undefined,
};
console.log(`rewritten by the censor: ${(await letters([censor])).faults?.rewritten} messages`);
// #endregion

// #region streams
const rain = new Environment({ seed: 1 }).stream("weather").split("rain");
const walker = defineRole({
  name: "Walker",
  step(_state, _message, out) {
    const [where, when] = [out.stream("where"), out.stream("when")];
    out.say(`to ${Math.floor(where() * 10)} at ${Math.floor(when() * 24)}`);
  },
});
const walk = new Environment({ seed: 1 }).addRole(walker);
walk.publishMessage("go");
console.log(`${(await walk.run()).output?.content}, ${rain() < 0.5 ? "in the rain" : "in the sun"}`);
// #endregion
