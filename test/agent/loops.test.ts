import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/agent/index.ts";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";

/** A tool that is called with nothing and answers by how often it was called. */
function counting(answer: (n: number) => string, polls?: boolean): ReturnType<typeof defineTool> {
  let n = 0;
  return defineTool({
    name: "next",
    description: "",
    effect: "read",
    ...(polls === undefined ? {} : { polls }),
    execute: () => answer(n++),
  });
}

const again = (_request: unknown, n: number): object => calls(call("next", {}, `id${n}`));

describe("doing the same again", () => {
  it("is no loop while the results differ: a tool that pages gives another page each time", async () => {
    const pages = counting((n) => (n < 25 ? `page ${n}` : "the end"));
    const { agent } = agentOf((request, n) => (n < 26 ? again(request, n) : "all read"), { tools: [pages] });
    const run = agent.run("Read all pages.");
    const warnings = (await eventsOf(run)).filter(({ type }) => type === "warning");
    expect([(await run.result).status, warnings]).toEqual(["finished", []]);
  });

  it("LoopDetector.D1 is a loop when call and result repeat, whoever is at fault", async () => {
    for (const tools of [[counting(() => "nothing new")], [noting("other")]])
      expect(await agentOf(again, { tools }).agent.run("x").result).toMatchObject({ status: "loop", steps: 6 });
  });

  it("LoopDetector.D2 is no loop for a tool that polls, until its answer has not changed 20 times", async () => {
    const finished = counting((n) => (n < 15 ? "running" : "ready"), true);
    const { agent } = agentOf((request, n) => (n < 16 ? again(request, n) : "It is ready."), { tools: [finished] });
    expect(await agent.run("Wait for it.").result).toMatchObject({ status: "finished", answer: "It is ready." });
    const stuck = agentOf(again, { tools: [counting(() => "running", true)], maxSteps: 100 });
    expect(await stuck.agent.run("Wait for it.").result).toMatchObject({ status: "loop", steps: 40 });
  });

  it("is seen beside a poll too, when the rest of the batch repeats", async () => {
    const tools = [counting(() => "running", true), noting("look")];
    const both = (_request: unknown, n: number): object => calls(call("next", {}, `a${n}`), call("look", { q: "1" }, `b${n}`));
    expect(await agentOf(both, { tools }).agent.run("x").result).toMatchObject({ status: "loop", steps: 6 });
  });
});
