// @module-tag science
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import type { Figure } from "../../src/research/figures/study.ts";
import { openaiStub, type StubReply } from "../../src/testing/index.ts";
import { root } from "../architecture/read-house.ts";
import { scratchFolder } from "../workspace/scratch.ts";

let folder = "";

beforeEach(() => {
  folder = scratchFolder();
  cpSync(join(root, "examples/research/teams"), folder, { recursive: true });
});

/** Runs the study with the questions and cassettes of the folder, and returns what it found by name. */
async function found(env: Readonly<Record<string, string>> = {}): Promise<ReadonlyMap<string, number>> {
  const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  vi.stubEnv("RECORD", undefined);
  for (const [name, value] of Object.entries({ TEAMS: folder, ...env })) vi.stubEnv(name, value);
  vi.resetModules();
  const before = process.exitCode;
  const { figures } = (await import("../../examples/research/teams.ts").finally(() => print.mockRestore())) as {
    readonly figures: readonly Figure[];
  };
  process.exitCode = before;
  return new Map(figures.map(({ name, found: value }) => [name.replace(/^teams: |, 95 % interval.*$/g, ""), value]));
}

/** Records the study with a model that answers each request so. */
async function recorded(reply: StubReply): Promise<ReadonlyMap<string, number>> {
  await using server = await openaiStub({ reply });
  const counts = await found({ RECORD: "1", MODEL: "some-model", OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "none" });
  expect({ asked: server.requests.length, refused: server.rejected }).toEqual({ asked: 75, refused: [] });
  return counts;
}

it("a changed fact ends the study of teams with the difference, and no figure", async () => {
  const path = join(folder, "study.json");
  writeFileSync(path, readFileSync(path, "utf8").replace("heavier than 12 tonnes", "heavier than 15 tonnes"));
  await expect(found()).rejects.toMatchObject({
    code: "DIFFERENCE",
    message: expect.stringMatching(/that the cassette of run \w+ has, got one it lacks[^]*15 tonnes[^]*record the run again/),
  });
});

it("a cassette that is missing is an error that says what to do", async () => {
  await expect(found({ TEAMS: join(folder, "nowhere") })).rejects.toThrow(/nowhere/);
  cpSync(join(folder, "study.json"), join(folder, "other/study.json"));
  await expect(found({ TEAMS: join(folder, "other") })).rejects.toThrow(/chain.cassette.json.* Record it first/);
});

it.each([
  ["nonsense", "I cannot tell.", { right: 0, alone: [0, 0, 0] }],
  ["two letters", "NOTE: two\nANSWER: A or B", { right: 0, alone: [0, 0, 0] }],
  ["always B", "**NOTE:** it is B, surely\n**ANSWER:** B.", { right: 2, alone: [2, 8, 2] }],
])(
  "a model that answers %s is recorded, judged by the letter alone, and replayed with the same figures",
  async (_, text, { right, alone }) => {
    const counts = await recorded({ text, usage: { prompt_tokens: 10, completion_tokens: 2 } });
    const of = (what: string): readonly unknown[] => ["chain", "star", "mesh"].map((shape) => counts.get(`${shape}, ${what}`));
    expect({ right: of("right of 5"), calls: of("calls"), tokens: of("tokens") }).toEqual({
      right: [right, right, right],
      calls: [25, 25, 25],
      tokens: [300, 300, 300],
    });
    expect(["5", "20", "5"].map((n, place) => of(`right of ${n} alone`)[place])).toEqual(alone);
    expect(await found()).toEqual(counts);
  },
);

it("a note is cut after eight words before others hear it", async () => {
  await recorded({ text: "NOTE: one, two; three four five six seven eight, nine\nANSWER: A" });
  const text = readFileSync(join(folder, "mesh.cassette.json"), "utf8");
  expect(text).toContain("Member 1 noted: one, two; three four five six seven eight\\n");
});
