import { describe, expect, it } from "vitest";
import { openaiStub } from "../../src/testing/index.ts";
import { command, eventsIn, expectEnd, expectRefusal, newestIn, placed, reach } from "./kept-run.ts";

const CREW = `
name: writers
roles:
  - name: Ann
    watch: [UserRequirement, UserFeedback]
    actions: [{ name: Draft, prompt: "Draft: {{text}}" }]
`;

describe("troupe take and troupe give-back", () => {
  it("let a person play a role of a run, and its model again", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "by the model" }) });
    const { cwd } = placed({ "crew.yaml": CREW });
    await expectEnd(cwd, ["run", "a story", "--crew", "crew.yaml", ...reach(stub), "--price", "1,4", "--sandbox", "none", "--quiet"], 0);
    const id = await newestIn(cwd);
    await expectEnd(cwd, ["take", id.slice(0, 6), "Ann", "--by", "Cleo"], 0, "Ann");
    await expectRefusal(cwd, ["take", id, "Ann"], "(ROLE_TAKEN)");
    expect((await command(cwd, ["tell", id, "shorter", "--base-url", stub.url])).code).toBe(5);
    const shown = await command(cwd, ["runs", "show", id]);
    expect(shown.stdout).toContain("Draft: shorter");
    const answered = await command(cwd, ["answer", id, "by Cleo", "--base-url", stub.url, "--json"]);
    expect([answered.code, answered.stdout.includes("by Cleo")]).toEqual([0, true]);
    expect((await command(cwd, ["give-back", id, "Ann", "--json"])).stdout).toContain('"name":"Ann"');
    const told = await command(cwd, ["tell", id, "longer", "--base-url", stub.url, "--json"]);
    const said = eventsIn(told.stdout).flatMap((event) => (event.type === "act.ended" ? event.said : []));
    expect(said.map(({ message }) => message.content)).toEqual(["by the model", "by Cleo", "by the model"]);
    for (const [words, code] of [
      [["take", id, "Zoe"], "ROLE_UNKNOWN"],
      [["give-back", id, "Ann"], "ROLE_NOT_TAKEN"],
      [["take", id], "COMMAND_INVALID"],
    ] as const)
      await expectRefusal(cwd, words, `(${code})`);
    expect(await command(cwd, ["replay", id])).toMatchObject({ code: 0 });
  });

  it("take the agent of troupe agent, which has no team to change", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "by the model" }) });
    const { cwd } = placed({});
    await expectEnd(cwd, ["agent", "a story", ...reach(stub), "--price", "1,4", "--sandbox", "none", "--quiet", "--out", "work"], 0);
    const id = await newestIn(cwd);
    await expectEnd(cwd, ["take", id, "Agent"], 0, "Agent");
    expect((await command(cwd, ["tell", id, "shorter", "--base-url", stub.url])).code).toBe(5);
    await expectEnd(cwd, ["give-back", id, "Agent"], 0, "Agent");
    expect((await command(cwd, ["resume", id, "--base-url", stub.url])).stdout).toContain("by the model");
    await expectRefusal(cwd, ["hire", id, "Ann"], "(CREW_UNKNOWN)");
  });
});
