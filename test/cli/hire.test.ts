import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import { command, eventsIn, freshFolder, newestIn } from "./kept-run.ts";

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
  const cwd = freshFolder();
  writeFileSync(join(cwd, "crew.yaml"), CREW);
  const words = [
    "run",
    "a story",
    "--crew",
    "crew.yaml",
    "--base-url",
    stub.url,
    "--model",
    "stub-1",
    "--price",
    "1,4",
    "--sandbox",
    "none",
    "--quiet",
  ];
  expect(await command(cwd, words)).toMatchObject({ code: 0 });
  return { cwd, id: await newestIn(cwd) };
}

describe("troupe hire and troupe retire", () => {
  it("change the team of a run, which goes on with it", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "a text" }) });
    const { cwd, id } = await finished(stub);
    const hired = await command(cwd, ["hire", id.slice(0, 6), "Ben"]);
    expect(hired).toMatchObject({ code: 0, stderr: expect.stringContaining(`Hired Ben into run ${id}.`) as string });
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
      const { code: exit, stderr } = await command(cwd, words);
      expect({ words, exit, stderr }).toEqual({ words, exit: 2, stderr: expect.stringContaining(`(${code})`) as string });
    }
    expect((await command(cwd, ["runs", "export", id])).stdout).toBe(before);
  });
});
