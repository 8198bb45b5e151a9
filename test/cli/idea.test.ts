import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { IDEA_BYTES, ideaSource, mistypedCommand, readIdea } from "../../src/cli/idea.ts";
import { titled } from "../titled.ts";
import { fakeHost, scratchFolder } from "./fake-host.ts";
import { command as troupe } from "./kept-run.ts";

const typed = { isMeant: false };
const named = { isMeant: true };

describe("ideaSource", () => {
  it("takes a quoted sentence, - for standard input, or a named file", () => {
    expect(ideaSource(["Create a 2048 game"], undefined, typed)).toEqual({ kind: "words", text: "Create a 2048 game" });
    expect(ideaSource(["run a marathon planner"], undefined, typed)).toMatchObject({ kind: "words" });
    expect(ideaSource(["-"], undefined, typed)).toEqual({ kind: "file", path: "-" });
    expect(ideaSource([], "-", typed)).toEqual({ kind: "file", path: "-" });
    expect(ideaSource([], "idea.md", named)).toEqual({ kind: "file", path: "idea.md" });
  });

  it.each([
    [["dmeo"], "Did you mean: troupe demo? To use it as an idea: troupe run dmeo"],
    [["demo"], '"demo" is a command and comes first'],
    [["docter", "--json"], "Did you mean: troupe doctor --json?"],
    [["dmeo", "todo"], "Did you mean: troupe demo todo?"],
    [["exprimnt", "run", "coins.ts"], "Did you mean: troupe experiment run coins.ts?"],
  ])("refuses %j, which looks like a command", (words, said) => {
    const ideaOf = () => ideaSource(words, undefined, typed);
    expect(ideaOf).toThrowError(expect.objectContaining({ code: "COMMAND_MISTYPED" }));
    expect(ideaOf).toThrow(said);
  });

  it("takes a single word only where it was meant, or is a bundled idea", () => {
    expect(() => ideaSource(["tetris"], undefined, typed)).toThrowError(expect.objectContaining({ code: "IDEA_DOUBTFUL" }));
    expect(ideaSource(["dmeo"], undefined, named)).toMatchObject({ kind: "words", text: "dmeo" });
    expect(ideaSource(["todo"], undefined, { ...typed, isBundled: (text) => text === "todo" })).toMatchObject({ text: "todo" });
  });

  it("asks for quotes around words that lost theirs", () => {
    expect(() => ideaSource(["Create", "a", "game"], undefined, named)).toThrow('troupe "Create a game"');
  });

  it.each(
    titled([
      ["IDEA_MISSING", [], undefined],
      ["IDEA_MISSING", ["  \n "], undefined],
      ["IDEA_TWICE", ["a game"], "idea.md"],
      ["IDEA_UNQUOTED", ["a", "game"], undefined],
      ["IDEA_TOO_LONG", ["x".repeat(IDEA_BYTES + 1)], undefined],
    ]),
  )("throws %s", (_case, code, words, file) => {
    expect(() => ideaSource(words, file, named)).toThrowError(expect.objectContaining({ code }));
  });
});

describe("readIdea", () => {
  const reading = (content: Uint8Array | string): Promise<string> => {
    const cwd = scratchFolder();
    writeFileSync(join(cwd, "idea.md"), content);
    return readIdea({ kind: "file", path: "idea.md" }, fakeHost({ cwd }));
  };

  it("reads a file without the white space around", async () => {
    expect(await reading("\n a game \n")).toBe("a game");
  });

  it.each([
    ["IDEA_TOO_LONG", "x".repeat(IDEA_BYTES + 1)],
    ["IDEA_BINARY", Uint8Array.of(0xff, 0xfe)],
    ["IDEA_BINARY", "a\0b"],
    ["IDEA_MISSING", " \n\t "],
  ])("refuses a file with %s", async (code, content) => {
    await expect(reading(content)).rejects.toMatchObject({ code });
  });

  it.each([
    ["missing.md", "it does not exist"],
    [".", "it is a folder"],
    ["/dev/null", "troupe - < /dev/null"],
  ])("says why %s cannot be read", async (path, why) => {
    await expect(readIdea({ kind: "file", path }, fakeHost({ cwd: scratchFolder() }))).rejects.toThrow(why);
  });
});

it("shows an example of the command where the idea is missing", () => {
  expect(() => ideaSource([], undefined, { isMeant: true, example: "Say what to do: troupe agent" })).toThrow(
    "Expected an idea, got none. Say what to do: troupe agent",
  );
  expect(() => ideaSource([], undefined, { isMeant: true })).toThrow("or see it work: troupe demo");
});

describe("mistypedCommand", () => {
  it.each([
    ["dmeo", "demo"],
    ["Demo", "demo"],
    ["rn", "run"],
    ["hlep", "help"],
    ["contiune", "continue"],
    ["frok", "fork"],
    ["2048", undefined],
    ["todo", undefined],
    ["", undefined],
  ])("takes %j for %s", (word, command) => {
    expect(mistypedCommand(word)).toBe(command);
  });

  it("knows every command of the tree", async () => {
    const { stdout } = await troupe("/nowhere", ["__complete", "bash", "--", ""]);
    for (const command of stdout.trimEnd().split("\n").slice(1)) expect(mistypedCommand(command)).toBe(command);
  });
});
