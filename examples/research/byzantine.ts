// Byzantine generals: a commander orders, lieutenants tell each other what they heard, in rounds, and take the majority. Oral messages OM(m) reach
// agreement with m traitors among 3m + 1 generals, and not among 3m.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { figure, figuresText } from "troupe/research";

interface Case {
  readonly n: number;
  readonly m: number;
  readonly order: 0 | 1;
  readonly traitors: readonly number[];
}
const heard = z.object({ path: z.array(z.number()), value: z.number() });
const majority = (values: readonly number[]): number => Number(2 * values.reduce((sum, value) => sum + value, 0) > values.length);

const general = (place: number, { n, m, order, traitors }: Case) =>
  defineRole({
    name: `g${place}`,
    watch: [],
    state: z.object({ values: z.record(z.string(), z.number()).default({}), decision: z.number().default(order) }),
    steps({ values, decision }, messages, out) {
      const known: Record<string, number> = { ...values };
      const tell = (path: readonly number[], value: number): void => {
        for (let to = 1; to < n; to += 1) {
          // A traitor who commands splits the others; one who relays says the opposite.
          const lie = place === 0 ? to % 2 : 1 - value;
          if (to !== place && !path.includes(to))
            out.say("order", { sendTo: `g${to}`, instructContent: { path, value: traitors.includes(place) ? lie : value } });
        }
      };
      if (place === 0) tell([0], order);
      for (const { instructContent } of place === 0 ? [] : messages) {
        const { path, value } = heard.parse(instructContent);
        known[path.join()] = value;
        if (path.length <= m) tell([...path, place], value);
      }
      const others = (path: readonly number[]): readonly number[] =>
        Array.from({ length: n }, (_, to) => to).filter((to) => to !== place && !path.includes(to));
      const decide = (path: readonly number[]): number => {
        const own = known[path.join()] ?? 0;
        return path.length > m ? own : majority([own, ...others(path).map((to) => decide([...path, to]))]);
      };
      return { values: known, decision: place > 0 && out.round === m + 1 ? decide([0]) : decision };
    },
  });

/** Returns the number of messages, and whether loyal lieutenants agree, on the order of a loyal commander. */
async function agree(one: Case): Promise<{ readonly sent: number; readonly holds: boolean }> {
  const army = new Environment({ seed: 1 });
  army.addRoles(Array.from({ length: one.n }, (_, place) => general(place, one)));
  army.publishMessage(createMessage("begin", { sendTo: "g0" }));
  const { messages } = await army.run();
  const loyal = army.roleNames.filter((_, place) => place > 0 && !one.traitors.includes(place));
  const decisions = new Set(loyal.map((name) => army.getRole(name)?.state["decision"]));
  return { sent: messages.length - 1, holds: decisions.size === 1 && (one.traitors.includes(0) || decisions.has(one.order)) };
}

const subsets = (n: number, m: number, from = 0): readonly (readonly number[])[] =>
  m === 0
    ? [[]]
    : Array.from({ length: n - from }, (_, k) => from + k).flatMap((first) => subsets(n, m - 1, first + 1).map((rest) => [first, ...rest]));
const casesOf = (n: number, m: number): readonly Case[] =>
  subsets(n, m).flatMap((traitors) => ([0, 1] as const).map((order) => ({ n, m, order, traitors })));
const all = async (n: number, m: number) => Promise.all(casesOf(n, m).map(agree));
const [four, seven, three, six] = [await all(4, 1), await all(7, 2), await all(3, 1), await all(6, 2)];
const failures = (found: readonly { readonly holds: boolean }[]): number => found.filter(({ holds }) => !holds).length;
const source = "Lamport, Shostak and Pease 1982";

export const figures = [
  figure({ name: "Byzantine: messages of OM(1) with 4 generals", source, expected: 3 + 3 * 2, found: four[0]?.sent ?? 0 }),
  figure({ name: "Byzantine: messages of OM(2) with 7 generals", source, expected: 6 + 6 * 5 + 6 * 5 * 4, found: seven[0]?.sent ?? 0 }),
  figure({ name: "Byzantine: failures of 8 cases, 1 traitor of 4", source, expected: 0, found: failures(four) }),
  figure({ name: "Byzantine: failures of 42 cases, 2 traitors of 7", source, expected: 0, found: failures(seven) }),
  figure({ name: "Byzantine: failures with 1 traitor of 3", source, relation: "at least", expected: 1, found: failures(three) }),
  figure({ name: "Byzantine: failures with 2 traitors of 6", source, relation: "at least", expected: 1, found: failures(six) }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
