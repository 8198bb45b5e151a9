// A debate in which each side takes a weighted mean of the opinions it hears, by its trust in each. Both end in one opinion, which the trust decides.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { study } from "troupe/research";

/** The trust of each of two in both. */
const trust = [
  [1 / 2, 1 / 2],
  [1 / 4, 3 / 4],
];
const names = ["a0", "a1"];

/** Says its opinion to both, itself included, in every round. */
const sideOf = (name: string, place: number) =>
  defineRole({
    name,
    watch: [],
    state: z.object({ opinion: z.number().default(place) }),
    steps({ opinion }, messages, out) {
      const heard = messages.filter(({ content }) => content !== "begin");
      const parts = heard.map(({ content, sentFrom }) => Number(content) * (trust[place]?.[names.indexOf(sentFrom)] ?? 0));
      const next = heard.length === 0 ? opinion : parts.reduce((sum, part) => sum + part, 0);
      out.say(`${next}`, { sendTo: names });
      return { opinion: next };
    },
  });

const pair = new Environment({ seed: 1 }).addRoles(names.map(sideOf));
pair.publishMessage(createMessage("begin", { sendTo: names }));
export const { messages } = await pair.run({ rounds: 60 });
const opinion = Number(pair.getRole("a0")?.state["opinion"]);

export const figures = study({ name: "debate" }).report([
  { name: "opinion in which two averaging sides end", source: "DeGroot 1974", expected: 2 / 3, found: opinion },
]);
