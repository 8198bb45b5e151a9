// A process: five people play a sprint, with its two meetings. What they say was written by hand and is in a file, so no model is asked.
import { readFileSync } from "node:fs";
import { type ChatModel, Team } from "troupe";
import { openCrew, readCrew, simulatedPeople } from "troupe/roles";
import { scriptedModel } from "troupe/testing";
import { memoryWorkspace, refusedSandbox } from "troupe/workspace";

// #region process
interface Played {
  /** A crew file. */
  readonly crew: string;
  readonly idea: string;
  readonly answers: readonly Answer[];
}

interface Answer {
  readonly by: string;
  readonly says?: object;
  readonly calls?: readonly { readonly name: string; readonly arguments: object }[];
}

export function playedBy(process: string): Played {
  return JSON.parse(readFileSync(new URL(`./processes/${process}.answers.json`, import.meta.url), "utf8")) as Played;
}

/** Answers for each role what it says in the file, in the order there. */
export function byHand({ answers }: Played): ChatModel {
  const asked = new Map<string, number>();
  return scriptedModel(({ messages }) => {
    const role = /named (\w+)/.exec(String(messages[0]?.content))?.[1] ?? "";
    const nth = asked.get(role) ?? 0;
    asked.set(role, nth + 1);
    const answer = answers.filter(({ by }) => by === role)[nth];
    if (answer === undefined) throw new Error(`Expected at most ${nth} questions to ${role}, and one more came.`);
    if (answer.calls === undefined) return JSON.stringify(answer.says);
    const toolCalls = answer.calls.map((call, at) => ({
      id: `${role}-${nth}-${at}`,
      type: "function" as const,
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }));
    return { toolCalls };
  });
}

const scrum = playedBy("scrum");
const sandbox = refusedSandbox("nothing runs in this sprint", "Choose a sandbox.");
const { name, roles, rounds = 100 } = openCrew(await readCrew(scrum.crew), { workspace: memoryWorkspace(), sandbox });
const { messages, output } = await new Team({ name, roles, model: byHand(scrum) }).run(scrum.idea, { rounds }).result;

console.log(messages.map(({ sentFrom, speech, content }) => `${sentFrom || "You"}: ${speech ?? content}`).join("\n\n"));
console.log(output?.speech); // We have finished 3 of 3 items.
// #endregion

// #region people
const kanban = await readCrew("process: kanban");
const people = { Quinn: { skill: 0.9 }, "*": { errors: 0.4, absent: 0.05 } };
const simulated = simulatedPeople(kanban, { seed: 1, items: 8, people });
const crew = openCrew(kanban, { workspace: memoryWorkspace(), sandbox });
const team = new Team({ roles: crew.roles, ...simulated, seed: 1 });
console.log((await team.run("a shop", { rounds: 5_000 }).result).output?.content.split("\n")[0]); // We have finished 8 of 8 items.
// #endregion
