import { describe, expect, it, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { AbortedError } from "../../src/kernel/errors.ts";
import { directSteps, type StepPort } from "../../src/kernel/step.ts";
import type { Approver } from "../../src/tool/approval.ts";
import { checkToolChoice } from "../../src/tool/call-options.ts";
import { callTools } from "../../src/tool/call-tools.ts";
import { defineTool, type Tool } from "../../src/tool/tool.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { resultText } from "../../src/tool/tool-result.ts";
import { call, calling } from "./calling.ts";

/** Tools that each take some turns of the event loop, and what they did. */
class Workshop {
  readonly log: string[] = [];
  running = 0;
  most = 0;

  tool(name: string, more: Partial<Tool> & { turns?: number; says?: string | { error: string } } = {}): Tool {
    const { turns = 3, says = name, ...fields } = more;
    return defineTool({
      name,
      description: "",
      permission: "allow",
      ...fields,
      execute: async () => {
        this.running++;
        this.most = Math.max(this.most, this.running);
        this.log.push(`${name} begins`);
        for (let turn = 0; turn < turns; turn++) await nextMacrotask();
        this.log.push(`${name} ends`);
        this.running--;
        return says;
      },
    } as never);
  }
}

const outcomes = (answers: Awaited<ReturnType<typeof callTools>>): string[] =>
  answers.map(({ outcome, call: { id } }) => `${id} ${outcome}`);

describe("the calls of one reply", () => {
  it("CallTools.B1 run side by side, at most so many at once, and are answered in their order", async () => {
    const shop = new Workshop();
    const tools = Array.from({ length: 10 }, (_, n) => shop.tool(`t${n}`, { turns: 10 - n }));
    const calls = tools.map(({ name }, n) => call(name, {}, `c${n}`));
    const answers = await callTools(calls, { ...calling(tools), concurrency: 3 });
    expect(shop.most).toBe(3);
    expect(answers.map(({ result }) => result.output)).toEqual(tools.map(({ name }) => name));
    shop.most = 0;
    await callTools(calls, calling(tools));
    expect(shop.most).toBe(4);
  });

  it("CallTools.B1 a tool that must see what was done before runs alone", async () => {
    const shop = new Workshop();
    const tools = [shop.tool("look"), shop.tool("write", { parallel: false }), shop.tool("look2")];
    await callTools([call("look", {}, "1"), call("write", {}, "2"), call("look2", {}, "3")], calling(tools));
    expect(shop.log).toEqual(["look begins", "look ends", "write begins", "write ends", "look2 begins", "look2 ends"]);
  });

  it("CallTools.B3 stop after one that ended the work: the original runs the rest", async () => {
    const shop = new Workshop();
    const tools = [shop.tool("a"), shop.tool("terminate", { ends: true }), shop.tool("b")];
    const answers = await callTools(
      [call("a", {}, "1"), call("Terminate", {}, "2"), call("b", {}, "3"), call("gone", {}, "4")],
      calling(tools),
    );
    expect(outcomes(answers)).toEqual(["1 ok", "2 ok", "3 skipped", "4 skipped"]);
    expect(answers.map(({ ends }) => ends)).toEqual([false, true, false, false]);
    expect(shop.log).not.toContain("b begins");
  });

  it("CallTools.B3 go on after one that could not end the work", async () => {
    const shop = new Workshop();
    const tools = [shop.tool("terminate", { ends: true, says: { error: "the tests fail" } }), shop.tool("b")];
    expect(outcomes(await callTools([call("terminate", {}, "1"), call("b", {}, "2")], calling(tools)))).toEqual(["1 failed", "2 ok"]);
  });

  it("CallTools.B4 with one id cannot be told apart: the second does not run", async () => {
    const shop = new Workshop();
    const answers = await callTools([call("a", {}, "x"), call("b", {}, "x")], calling([shop.tool("a"), shop.tool("b")]));
    expect(outcomes(answers)).toEqual(["x ok", "x invalid"]);
    expect(shop.log).not.toContain("b begins");
  });

  it("that are too many are answered and not made", async () => {
    const shop = new Workshop();
    const calls = Array.from({ length: 130 }, (_, n) => call("a", {}, `${n}`));
    const answers = await callTools(calls, calling([shop.tool("a", { turns: 0 })]));
    expect(answers).toHaveLength(130);
    expect(answers.filter(({ outcome }) => outcome === "skipped")).toHaveLength(2);
  });

  it.each([0, -1, 1.5, Number.NaN])("are refused with %d at once", async (concurrency) => {
    await expect(callTools([], { ...calling([]), concurrency })).rejects.toMatchObject({ code: "CONCURRENCY_INVALID" });
  });
});

describe("a choice", () => {
  it("that no reply could follow is refused", () => {
    const none = new ToolCollection();
    const some = new ToolCollection([new Workshop().tool("a")]);
    for (const [choice, tools] of [
      ["required", none],
      [{ name: "b" }, some],
      [{ name: "constructor" }, some],
    ] as const) {
      expect(() => checkToolChoice(choice, tools)).toThrow(expect.objectContaining({ code: "TOOL_CHOICE_INVALID" }) as Error);
    }
    for (const [choice, tools] of [
      ["none", none],
      ["auto", none],
      ["required", some],
      [{ name: "a" }, some],
    ] as const) {
      expect(() => checkToolChoice(choice, tools)).not.toThrow();
    }
  });

  const shop = new Workshop();
  const tools = [shop.tool("a"), shop.tool("b")];
  const calls = [call("a", {}, "1"), call("b", {}, "2")];

  it("of none, or of one tool, holds also for models that call others", async () => {
    expect(outcomes(await callTools(calls, { ...calling(tools), choice: "none" }))).toEqual(["1 denied", "2 denied"]);
    expect(outcomes(await callTools(calls, { ...calling(tools), choice: { name: "b" } }))).toEqual(["1 denied", "2 ok"]);
    expect(outcomes(await callTools([call("B", {}, "1")], { ...calling(tools), choice: { name: "b" } }))).toEqual(["1 ok"]);
    expect(outcomes(await callTools(calls, { ...calling(tools), choice: "required" }))).toEqual(["1 ok", "2 ok"]);
  });
});

describe("an error that stops a run", () => {
  it("CallTools.B5 is thrown after what is under way has ended, and nothing more begins", async () => {
    const shop = new Workshop();
    const stop = new AbortController();
    const breaking = defineTool({
      name: "breaking",
      description: "",
      permission: "allow",
      execute: () => {
        throw new AbortedError("enough");
      },
    });
    const calls = [call("slow", {}, "1"), call("breaking", {}, "2"), ...Array.from({ length: 6 }, (_, n) => call("slow", {}, `s${n}`))];
    const answered = callTools(calls, { ...calling([shop.tool("slow"), breaking], { signal: stop.signal }), concurrency: 2 });
    await expect(answered).rejects.toThrow(/enough/);
    expect(shop.log).toEqual(["slow begins", "slow ends"]);
    expect(shop.running).toBe(0);
  });

  it("and what the door throws is thrown as it is: nobody may try again what may have happened", async () => {
    const uncertain = Object.assign(new Error("look first"), { code: "STEP_UNCERTAIN" });
    const steps: StepPort = { step: () => Promise.reject(uncertain) };
    const shop = new Workshop();
    await expect(callTools([call("a")], calling([shop.tool("a")], { steps }))).rejects.toBe(uncertain);
  });
});

describe("permission", () => {
  const ask = { policy: { default: "ask" as const } };
  const tools = (shop: Workshop): Tool[] => [shop.tool("a"), shop.tool("b"), shop.tool("c")];
  const calls = [call("a", {}, "1"), call("b", {}, "2"), call("c", {}, "3")];

  it("CallTools.B2 is asked for one call at a time, before any of those side by side begins", async () => {
    const shop = new Workshop();
    const asked: string[] = [];
    let asking = 0;
    const approve: Approver = async ({ tool }) => {
      expect(++asking).toBe(1);
      asked.push(tool);
      await nextMacrotask();
      expect(shop.log).toEqual([]);
      asking--;
      return tool !== "b";
    };
    const answers = await callTools(calls, calling(tools(shop), { ...ask, approve }));
    expect(asked).toEqual(["a", "b", "c"]);
    expect(outcomes(answers)).toEqual(["1 ok", "2 denied", "3 ok"]);
    expect(shop.log).not.toContain("b begins");
  });

  it("is not asked for calls that will not run", async () => {
    const shop = new Workshop();
    const asked: string[] = [];
    const approve: Approver = ({ tool }) => asked.push(tool) > 0;
    const ending = [shop.tool("end", { ends: true }), ...tools(shop)];
    await callTools([call("end", {}, "0"), ...calls], calling(ending, { ...ask, approve }));
    expect(asked).toEqual(["end"]);
  });

  it("is refused where nobody can be asked, in words the model can act on", async () => {
    const shop = new Workshop();
    const [answer] = await callTools(
      [call("a")],
      calling([defineTool({ name: "a", description: "", effect: "write", execute: () => shop.log.push("ran") })], { policy: {} }),
    );
    expect(answer?.outcome).toBe("denied");
    expect(resultText(answer?.result ?? {})).toMatch(/needs a person's permission, and nobody is there to give it/);
    expect(shop.log).toEqual([]);
  });

  it("is refused by a rule without asking", async () => {
    const shop = new Workshop();
    const approve: Approver = () => true;
    const policy = { rules: [{ tool: "a", decide: "deny" as const }] };
    const [answer] = await callTools([call("a")], calling(tools(shop), { policy, approve }));
    expect([answer?.outcome, shop.log]).toEqual(["denied", []]);
    expect(resultText(answer?.result ?? {})).toMatch(/a rule forbids it/);
  });

  it.each<[unknown, string]>([
    [true, "ok"],
    ["yes", "ok"],
    [" Yes. ", "ok"],
    ["ok", "ok"],
    [false, "denied"],
    ["no", "denied"],
    ["", "denied"],
    ["yes, but only in the folder build", "denied"],
    ["yesterday", "denied"],
    [undefined, "denied"],
    [1, "denied"],
    [{ allowed: true }, "denied"],
  ])("the answer %j is %s", async (answer, outcome) => {
    const shop = new Workshop();
    const approve = (() => answer) as Approver;
    expect(outcomes(await callTools([call("a", {}, "1")], calling(tools(shop), { ...ask, approve })))).toEqual([`1 ${outcome}`]);
  });

  it("a person's words reach the model, and a failure to ask is a no", async () => {
    const shop = new Workshop();
    const words = async (approve: Approver): Promise<string> => {
      const [answer] = await callTools([call("a")], calling(tools(shop), { ...ask, approve }));
      return resultText(answer?.result ?? {});
    };
    expect(await words(() => "use b instead")).toContain('a person did not allow this use of the tool "a" and said: use b instead. ');
    expect(await words(() => Promise.reject(new Error("no terminal")))).toContain("asking for permission failed: no terminal");
    expect((await words(() => "x".repeat(100_000))).length).toBeLessThan(3_000);
  });

  it("shows the person everything that could steer the screen or hide, and says what is cut", async () => {
    const shop = new Workshop();
    let shown = "";
    const approve: Approver = ({ text }) => ((shown = text), false);
    const free = defineTool({ name: "free", description: "", execute: () => 1 });
    const options = calling([free, ...tools(shop)], { ...ask, approve, role: "Alice" });
    await callTools([call("free", { command: "ls \u001b[2K\u202e\u200b\u009b\n rm" })], options);
    expect(shown).toBe('May Alice use the tool "free"?\n{\n  "command": "ls \\u001b[2K\\u202e\\u200b\\u009b\\n rm"\n}');
    await callTools([call("free", { command: "\u{e0072}\u3164\ufe0f\ufff9" })], options);
    expect(shown).toContain(String.raw`"command": "\udb40\udc72\u3164\ufe0f\ufff9"`);
    await callTools([call("free", { command: "\u202e".repeat(50_000) })], options);
    expect(shown.length).toBeLessThan(8_200);
    await callTools([call("free", { command: "x".repeat(50_000) })], options);
    expect(shown).toMatch(/\[cut: 8,000 of 50,0\d\d characters shown\]/);
  });
});

test("outside a run each call has a door of its own kind: nothing is recorded, everything runs", async () => {
  const shop = new Workshop();
  const { signal } = new AbortController();
  const twice = [call("a", {}, "1"), call("a", {}, "2")];
  await callTools(twice, calling([shop.tool("a")], { steps: directSteps(signal), signal }));
  expect(shop.log.filter((line) => line === "a begins")).toHaveLength(2);
});
