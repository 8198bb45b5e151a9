import { describe, expect, it } from "vitest";
import { ProjectGate } from "../../actions/company/project-gate.ts";
import { Specify } from "../../actions/company/specify.ts";
import type { WorkOrder } from "../../roles/index.ts";
import type { Criterion } from "../../src/checks/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { fileWorkspace } from "../../src/workspace/index.ts";
import { isolates, sandbox } from "../checks/project.ts";
import { brief, criteria } from "../roles/adder.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { runAlone } from "./alone.ts";

const [adds, refuses] = criteria as readonly [Criterion, Criterion];
const hollow: Criterion = { ...adds, id: "A3", check: { kind: "command", steps: [{ run: ["node", "--version"] }] } };
const summed = (equals: string) => ({ kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals } }] });

interface Specified {
  readonly order: WorkOrder;
  /** The questions after the criteria. */
  readonly asked: readonly string[];
}

/** The order of a product manager with these criteria, and these answers to what is asked about them. */
async function specified(given: readonly unknown[], ...answers: readonly object[]): Promise<Specified> {
  const model = scriptedModel([brief("S", { criteria: given }), ...answers.map((answer) => JSON.stringify(answer))]);
  const workspace = fileWorkspace({ root: scratchFolder(), git: false });
  const gate = new ProjectGate({ workspace, sandbox, missingForPages: () => undefined });
  const { status, output } = await runAlone({ action: new Specify({ gate, receivers: { S: [], M: [], L: [] } }), model });
  expect(status).toBe("finished");
  expect(model.calls).toHaveLength(answers.length + 1);
  const asked = model.calls.slice(1).map(({ messages }) => String(messages.at(-1)?.content));
  return { order: output?.instructContent as WorkOrder, asked };
}

const derived = (text: string | null) => ({ outputs: [{ wanted: "A1.1 stdout", text }] });
const checkOf = ({ order }: Specified, id: string): unknown => order.criteria.find((criterion) => criterion.id === id)?.check;

describe("the outputs that checks expect", () => {
  it("are worked out a second time, without what is expected, in one call", async () => {
    const { order, asked } = await specified([adds, refuses], derived("5\n"));
    expect(asked[0]).toContain(`Step 1: ${JSON.stringify({ run: ["node", "src/cli.mjs", "2", "3"] })}`);
    expect(asked[0]).toContain("Wanted: A1.1 stdout");
    expect(asked[0]).not.toContain("it prints the sum");
    expect(asked[0]).not.toMatch(/"?equals"?/);
    expect(order.criteria).toEqual([adds, refuses]);
  });

  it("that differ are put before their author once", async () => {
    const corrected = { reasons: "2 + 3 is 5.", checks: [{ id: "A1", check: summed("5") }] };
    const found = await specified([{ ...adds, check: summed("7") }], derived("6"), corrected);
    expect(found.asked[1]).toMatch(/A1\.1 stdout: .*"7".*"6"/s);
    expect(checkOf(found, "A1")).toEqual(summed("5"));
  });

  it.each([
    ["the words leave it open", derived(null)],
    ["white space differs", derived(" 5 ")],
    ["it names nothing that was wanted", { outputs: [{ wanted: "A9.1 stdout", text: "6" }] }],
  ])("are left alone where %s", async (_what, second) => {
    expect(checkOf(await specified([adds], second), "A1")).toEqual(adds.check);
  });

  it("that the check gives itself, messages and exit codes are not asked for", async () => {
    const run = ["node", "src/cli.mjs", "v1.2"];
    const steps = [
      { run, stdout: { contains: ["v1.2", "added"] }, stderr: { equals: "" } },
      { run, exit: 2, stderr: { contains: ["line 7"] } },
    ];
    expect((await specified([{ ...adds, check: { kind: "command", steps } }])).asked).toEqual([]);
  });

  it("that are computed count also as a part of an output, and in a file", async () => {
    const steps = [
      { run: ["node", "src/cli.mjs"], stdin: "2 3", stdout: { contains: ["5"] }, files: [{ path: "out.txt", equals: "five" }] },
    ];
    const { asked } = await specified([{ ...adds, check: { kind: "command", steps } }], derived("the sum is 5"));
    expect(asked[0]).toContain("Wanted: A1.1 stdout, A1.1 out.txt");
  });
});

describe.runIf(isolates)("a check that passes on an empty project", () => {
  it("is asked for again, with its id", async () => {
    const better = { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "--version"], stdout: { matches: "\\d" } }] };
    const found = await specified([adds, hollow], derived("5"), {
      reasons: "",
      checks: [
        { id: "A3", check: better },
        { id: "A1", check: summed("9") },
      ],
    });
    expect(found.asked[1]).toMatch(/pass without any product\nA3\b/);
    expect(checkOf(found, "A3")).toEqual(better);
    expect(checkOf(found, "A1")).toEqual(adds.check);
  });

  it("that stays so is a judgement of the lowest priority, and the order says so", async () => {
    const none = { reasons: "", checks: [{ id: "A3", check: hollow.check }] };
    const { order } = await specified([adds, hollow], derived("5"), none, none);
    expect(order.criteria[1]).toMatchObject({ id: "A3", priority: "P2", check: { kind: "judgement" } });
    expect(order.assumptions.at(-1)).toMatch(/^The check of A3 passed without any product/);
  });

  it("is not accepted as the correction of another", async () => {
    const found = await specified([adds], derived("6"), { reasons: "", checks: [{ id: "A1", check: hollow.check }] });
    expect(checkOf(found, "A1")).toEqual(adds.check);
  });
});
