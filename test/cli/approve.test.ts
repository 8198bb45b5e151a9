import { describe, expect, it } from "vitest";
import { approvedBy } from "../../actions/company/approval.ts";
import type { Human } from "../../src/index.ts";
import { command, expectEnd, freshFolder, newestIn } from "./kept-run.ts";

/** Asks about `first`, and takes the answers one after another. */
async function asked(...answers: readonly string[]) {
  const questions: string[] = [];
  const left = [...answers];
  const ask = (question: string): Promise<string> => {
    questions.push(question);
    const answer = left.shift();
    return answer === undefined ? Promise.reject(new Error("nobody answers")) : Promise.resolve(answer);
  };
  const change = (said: readonly string[]): Promise<string> => Promise.resolve(`changed by ${said.join(" and ")}`);
  const value = await approvedBy({ ask: ask as Human["ask"] }, { value: "first", show: (shown) => `> ${shown}`, change });
  expect(left).toEqual([]);
  return { value, questions };
}

describe("a proposal that waits for a yes", () => {
  it.each(["yes", " Y. ", "ok", "Approved!"])("is taken after %j", async (answer) => {
    expect((await asked(answer)).value).toBe("first");
  });

  it("is changed by what is different, all of it, and asked about again", async () => {
    const { value, questions } = await asked("blue, please", "and larger", "yes");
    expect(value).toBe("changed by blue, please and and larger");
    expect(questions.map((question) => question.split("\n")[0])).toEqual(["> first", "> changed by blue, please", `> ${value}`]);
  });

  it("is asked about again after a plain no, and is no yes then", async () => {
    const { value, questions } = await asked("no", "  ", "make it blue", "yes");
    expect(value).toBe("changed by make it blue");
    expect(questions[1]).toBe("Nothing goes on without your yes. Answer yes, say what is different, or say stop.");
  });

  it.each([[["stop"]], [["no", "", "N"]], [["blue", "no", "no", "no"]], [Array.from({ length: 10 }, (_, n) => `wish ${n}`)]])(
    "ends the work after %j",
    async (answers) => {
      await expect(asked(...answers)).rejects.toMatchObject({ code: "NOT_APPROVED" });
    },
  );
});

describe("troupe --approve", () => {
  it("prd shows the criteria once, ends at a stop, and asks again when it is resumed afresh", async () => {
    const cwd = freshFolder();
    const first = await expectEnd(cwd, ["demo", "--approve", "prd", "--no-run-tests"], 5);
    expect(first.stdout).toMatch(/\n {2}Asks +Alice: ## The user's words\n {11}Create a shopping list/);
    expect(first.stdout).toMatch(/\n {11}A2 \(P0\) Given a name of two words[^\n]*\n/);
    expect(`${first.stdout}${first.stderr}`.match(/A2 \(P0\)/g)).toHaveLength(1);
    const id = await newestIn(cwd);
    const stopped = await command(cwd, ["answer", id, "stop"]);
    expect(stopped).toMatchObject({ code: 130, stdout: expect.stringMatching(/^Not approved\. Nothing was written yet\./) as string });
    expect(stopped.stdout).toMatch(/Go on +troupe resume \S+ --reuse none\n/);
    expect(stopped.stderr).toContain("but the answer was to stop. Nothing was built.");
    await expectEnd(cwd, ["resume", id, "--reuse", "none"], 5);
    await expectEnd(cwd, ["answer", id, "yes"], 6);
  });
});
