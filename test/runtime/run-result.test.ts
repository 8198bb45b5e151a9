import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { WaitingError } from "../../src/kernel/errors.ts";
import { ROUTE_TO_NONE } from "../../src/message/address.ts";
import { createMessage } from "../../src/message/message.ts";
import type { Role } from "../../src/role/role.ts";
import { answering, contents, town } from "./town.ts";

const echo = answering("Echo", (rc) => rc.news.map(({ content }) => rc.message(`${content}!`)));

/** A run with an output and a dead letter, of which nobody has seen the result. */
async function twoRuns(): Promise<{ readonly first: RunResult; readonly second: RunResult }> {
  const environment = town([echo]);
  environment.publishMessage("one");
  environment.publishMessage(createMessage("lost", { sendTo: "Nobody" }));
  const first = await environment.run();
  environment.publishMessage("two");
  environment.publishMessage(createMessage("lost again", { sendTo: "Nobody" }));
  const second = await environment.run();
  return { first, second };
}

const question = { questionId: "q", question: "Well?", role: "Asking" };

function lists({ messages, outputs, deadLetters }: RunResult): readonly string[][] {
  return [messages, outputs, deadLetters.map(({ message }) => message)].map(contents);
}

test("a result that nobody has looked at yet tells nothing of what came after it", async () => {
  const { first, second } = await twoRuns();
  expect(lists(first)).toEqual([["one", "lost", "one!"], ["one!"], ["lost"]]);
  expect(lists(second)).toEqual([
    ["one", "lost", "one!", "two", "lost again", "two!"],
    ["one!", "two!"],
    ["lost", "lost again"],
  ]);
});

test("a list of a result is one list, and its reader's own", async () => {
  const { first, second } = await twoRuns();
  const list = first.messages as { length: number };
  list.length = 0;
  expect(first.messages).toBe(list);
  expect(second.messages).toHaveLength(6);
  expect(Object.freeze(second).outputs).toBe(second.outputs);
});

test("a result is a plain value: who copies, writes, clones or shows it finds all of it", async () => {
  const { first } = await twoRuns();
  const shown = inspect(first);
  const copy = { ...first };
  expect(Object.keys(first).slice(0, 8)).toEqual(["runId", "status", "rounds", "tick", "messages", "output", "outputs", "deadLetters"]);
  expect(Object.values(Object.getOwnPropertyDescriptors(copy)).every((member) => "value" in member)).toBe(true);
  expect(first).toStrictEqual(copy);
  const seen = [JSON.parse(JSON.stringify((await twoRuns()).first)), structuredClone((await twoRuns()).first)] as RunResult[];
  for (const other of seen) expect(lists(other)).toEqual(lists(first));
  expect(shown).toBe(inspect(copy));
});

test("RunState.S5 who failed first is still told so when the end of the round has put them in the order of hiring", async () => {
  let isThere = false;
  const tries = { onFailure: "skip" as const };
  const slow = answering("Slow", (rc) => rc.step("slow", {}, async () => Promise.reject(new Error("no"))), tries);
  const quick = answering(
    "Quick",
    () => {
      throw new Error("no");
    },
    tries,
  );
  const asking = answering("Asking", () => {
    if (!isThere) throw new WaitingError(question);
  });
  const environment = town([slow, quick, asking]);
  environment.publishMessage("go");
  const waiting = await environment.run();
  isThere = true;
  const finished = await environment.run();
  const failedIn = ({ deadLetters }: RunResult): unknown[] =>
    deadLetters.map(({ reason }) => (reason.kind === "failed" ? reason.role : reason.kind));
  expect([waiting, finished].map(({ status }) => status)).toEqual(["waiting", "finished"]);
  expect(failedIn(finished)).toEqual(["Slow", "Quick"]);
  expect(failedIn(waiting)).toEqual(["Quick", "Slow"]);
});

test("a message that waits for the end of a stopped round is in the result once, also in one that is read late", async () => {
  let isThere = false;
  const roles: Role[] = [
    answering("Says", (rc) => rc.message("said", { sendTo: ROUTE_TO_NONE })),
    answering("Asking", () => {
      if (!isThere) throw new WaitingError(question);
    }),
  ];
  const environment = town(roles);
  environment.publishMessage("go");
  const waiting = await environment.run();
  isThere = true;
  const finished = await environment.run();
  expect([waiting, finished].map(({ messages }) => contents(messages))).toEqual([
    ["go", "said"],
    ["go", "said"],
  ]);
});
