import { expect, it, vi } from "vitest";
import { type Experiment, experiment, runExperiment } from "../../src/research/index.ts";

it("a study of the shelf prints its figures, and meets the literature", async () => {
  const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const { figures } = await import("../../examples/research/blackboard.ts");
  const [text] = print.mock.lastCall ?? [];
  print.mockRestore();
  expect(figures.filter(({ holds }) => !holds)).toEqual([]);
  expect(String(text).trimEnd().split("\n")).toHaveLength(figures.length + 1);
});

it("the study of teams replays the recorded answers of a model: equal calls, and the figures of the recording", async () => {
  const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  vi.stubEnv("RECORD", undefined);
  const { figures } = await import("../../examples/research/teams.ts");
  print.mockRestore();
  expect(figures.filter(({ holds }) => !holds)).toEqual([]);
  const calls = figures.filter(({ name }) => name.endsWith("calls"));
  expect(calls.map(({ name, found }) => [name, found])).toEqual(["chain", "star", "mesh"].map((shape) => [`teams: ${shape}, calls`, 25]));
});

it("the studies of processes begin in every cell", async () => {
  const studies: object = await import("../../examples/processes/study.ts");
  for (const { name, options } of Object.values(studies) as readonly Experiment[]) {
    const { rows } = await runExperiment(experiment({ ...options, reps: 1, rounds: 2 }));
    const failed = rows.filter(({ status }) => status === "failed");
    expect(failed, name).toEqual([]);
  }
});
