import { describe, expect, it } from "vitest";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import { command, eventsIn, expectEnd, expectRefusal, newestIn, placed, reach } from "./kept-run.ts";

const CREW = `
name: writers
roles:
  - name: Ann
    watch: [UserRequirement, UserFeedback]
    actions: [{ name: Draft, prompt: "Draft: {{text}}" }]
reserve:
  - name: Ben
    watch: [UserFeedback]
    actions: [{ name: Polish, prompt: "Polish: {{text}}" }]
`;

/** A finished run of a crew that has a role in reserve. */
async function finished(stub: OpenAIStub): Promise<{ readonly cwd: string; readonly id: string }> {
  const { cwd } = placed({ "crew.yaml": CREW });
  await expectEnd(cwd, ["run", "a story", "--crew", "crew.yaml", ...reach(stub), "--price", "1,4", "--sandbox", "none", "--quiet"], 0);
  return { cwd, id: await newestIn(cwd) };
}

describe("troupe hire and troupe retire", () => {
  it("change the team of a run, which goes on with it", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "a text" }) });
    const { cwd, id } = await finished(stub);
    await expectEnd(cwd, ["hire", id.slice(0, 6), "Ben"], 0, `Hired Ben into run ${id}.`);
    expect((await command(cwd, ["hire", id, "Ann", "--as", "Anne", "--json"])).stdout).toContain('"name":"Anne"');
    expect((await command(cwd, ["retire", id, "Anne"])).code).toBe(0);
    expect((await command(cwd, ["runs", "show", id])).stdout.match(/^Ann.*retired/gm)).toEqual([expect.stringMatching(/^Anne /)]);
    const told = await command(cwd, ["tell", id, "shorter", "--base-url", stub.url, "--json"]);
    expect(told.code).toBe(0);
    const said = eventsIn(told.stdout).flatMap((event) => (event.type === "act.ended" ? [event.role] : []));
    expect(said.toSorted()).toEqual(["Ann", "Ann", "Ben"]);
    expect(await command(cwd, ["replay", id])).toMatchObject({ code: 0 });
  });

  it("refuse what cannot be, and leave the run as it was", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "yes" }) });
    const { cwd, id } = await finished(stub);
    const before = (await command(cwd, ["runs", "export", id])).stdout;
    for (const [words, code] of [
      [["hire", id, "Cid"], "ROLE_UNKNOWN"],
      [["hire", id, "Ann"], "ROLE_DUPLICATE"],
      [["hire", id, "Ben", "--as", ""], "ROLE_INVALID"],
      [["retire", id, "Ben"], "ROLE_UNKNOWN"],
      [["retire", id, "Ann"], "ROLES_NONE"],
      [["hire", "zzz", "Ben"], "RUN_UNKNOWN"],
      [["hire", id], "COMMAND_INVALID"],
    ] as const) {
      await expectRefusal(cwd, words, `(${code})`);
    }
    expect((await command(cwd, ["runs", "export", id])).stdout).toBe(before);
  });
});
