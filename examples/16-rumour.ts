// A rumour among ten thousand people, each a plain function over a small state. Whoever hears it tells random people, one after another, until
// one of them knows it already. The models of Daley and Kendall and of Maki and Thompson say that 20.3 % never hear of it.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";

// #region rumour
const PEOPLE = 10_000;
const nameOf = (place: number): string => `p${place}`;

const person = defineRole({
  name: "Person",
  watch: [],
  state: z.object({ knows: z.boolean().default(false), told: z.number().default(0) }),
  step(state, message, out) {
    const isNews = message.content === "rumour" && !state.knows;
    if (message.content === "rumour") out.say(isNews ? "really?" : "I know", { sendTo: message.sentFrom });
    if (!isNews && message.content !== "really?") return undefined; // the other one knew it already: stop telling
    out.say("rumour", { sendTo: nameOf(Math.floor(out.random() * PEOPLE)) });
    return { knows: true, told: state.told + 1 };
  },
});

async function spread(seed: number, concurrency: number) {
  const town = new Environment({ seed, concurrency });
  for (let place = 0; place < PEOPLE; place += 1) town.addRole(person, { name: nameOf(place) });
  town.publishMessage(createMessage("rumour", { sentFrom: nameOf(0), sendTo: nameOf(1) }));
  const { rounds, messages } = await town.run({ rounds: 1_000 });
  const people = town.roleNames.map((name) => town.getRole(name)?.state);
  return {
    rounds,
    said: messages.length,
    ignorant: people.filter((state) => state?.["knows"] !== true).length,
    state: JSON.stringify(people),
  };
}

const [one, sixteen] = [await spread(1, 1), await spread(1, 16)];
console.log(`${one.said} messages in ${one.rounds} rounds: ${((100 * one.ignorant) / PEOPLE).toFixed(1)} % never heard of it`);
console.log(`equal at concurrency 1 and 16: ${one.state === sixteen.state}`);
// #endregion
