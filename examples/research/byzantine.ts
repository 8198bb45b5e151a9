// Byzantine generals: a commander orders, lieutenants tell each other what they heard, in rounds, and take the majority. Oral messages OM(m) reach
// agreement with m traitors among 3m + 1 generals, and not among 3m.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { study } from "troupe/research";

const Told = z.object({ path: z.array(z.number()), value: z.number() }); // an order, and the generals that it came through
const others = (n: number, path: readonly number[]) => Array.from({ length: n }, (_, place) => place).filter((one) => !path.includes(one));

/** Returns the majority of what a lieutenant heard along a path, and of what the others say that they heard along it. */
function majority(place: number, n: number, m: number, heard: Readonly<Record<string, number>>, path: readonly number[] = [0]): number {
  const own = heard[path.join()] ?? 0;
  if (path.length > m) return own;
  const said = [own, ...others(n, [...path, place]).map((other) => majority(place, n, m, heard, [...path, other]))];
  return said.filter((value) => value === 1).length > said.length / 2 ? 1 : 0;
}

/** Passes on what it hears. A traitor who commands splits the others; one who relays says the opposite. */
const general = (place: number, n: number, traitors: readonly number[]) =>
  defineRole({
    name: `g${place}`,
    watch: [],
    state: z.object({ heard: z.record(z.string(), z.number()).default({}), decision: z.number().default(0) }),
    steps(state, messages, out) {
      const heard = { ...state.heard };
      for (const { instructContent } of messages) {
        const { path, value } = Told.parse(instructContent);
        heard[path.join()] = value;
        const onward = [...path, place];
        const lie = (to: number): number => (place === 0 ? to % 2 : 1 - value);
        for (const to of path.length > traitors.length ? [] : others(n, onward))
          out.say("order", { sendTo: `g${to}`, instructContent: { path: onward, value: traitors.includes(place) ? lie(to) : value } });
      }
      return { heard, decision: majority(place, n, traitors.length, heard) };
    },
  });

/** Returns the number of messages, and whether loyal lieutenants agree, on the order of a loyal commander. */
async function agree(n: number, order: number, traitors: readonly number[]) {
  const army = new Environment({ seed: 1 }).addRoles(others(n, []).map((place) => general(place, n, traitors)));
  army.publishMessage(createMessage("order", { sendTo: "g0", instructContent: { path: [], value: order } }));
  const { messages } = await army.run();
  const decisions = others(n, [0, ...traitors]).map((place) => army.getRole(`g${place}`)?.state["decision"]);
  return { sent: messages.length - 1, isRight: decisions.every((one) => one === (traitors.includes(0) ? decisions[0] : order)) };
}

async function failures(n: number, m: number): Promise<number> {
  const sets = Array.from({ length: 2 ** n }, (_, bits) => others(n, []).filter((place) => (bits >> place) % 2 === 1));
  const cases = sets.filter(({ length }) => length === m).flatMap((traitors) => [agree(n, 0, traitors), agree(n, 1, traitors)]);
  return (await Promise.all(cases)).filter(({ isRight }) => !isRight).length;
}

export const figures = study({ name: "Byzantine", source: "Lamport, Shostak and Pease 1982" }).report([
  { name: "messages of OM(1) with 4 generals", expected: 3 + 3 * 2, found: (await agree(4, 1, [0])).sent },
  { name: "messages of OM(2) with 7 generals", expected: 6 + 6 * 5 + 6 * 5 * 4, found: (await agree(7, 1, [0, 1])).sent },
  { name: "failures of 8 cases, 1 traitor of 4", expected: 0, found: await failures(4, 1) },
  { name: "failures of 42 cases, 2 traitors of 7", expected: 0, found: await failures(7, 2) },
  { name: "failures with 1 traitor of 3", relation: "at least", expected: 1, found: await failures(3, 1) },
  { name: "failures with 2 traitors of 6", relation: "at least", expected: 1, found: await failures(6, 2) },
]);
