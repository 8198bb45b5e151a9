import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { IDEA_BYTES, ideaSource, mistypedCommand, readIdea } from "../../src/cli/idea.ts";
import { titled } from "../titled.ts";
import { fakeHost, scratchFolder } from "./fake-host.ts";
import { command as troupe } from "./kept-run.ts";

const typed = { isCommandNamed: false };
const named = { isCommandNamed: true };

describe("ideaSource", () => {
  it("takes quoted words as the idea", () => {
    expect(ideaSource(["Create a 2048 game"], undefined, typed)).toEqual({
      kind: "words",
      text: "Create a 2048 game",
      isCommandNamed: false,
    });
  });

  it("takes - for standard input, and a file where one is named", () => {
    expect(ideaSource(["-"], undefined, typed)).toEqual({ kind: "file", path: "-" });
    expect(ideaSource([], "-", typed)).toEqual({ kind: "file", path: "-" });
    expect(ideaSource([], "idea.md", named)).toEqual({ kind: "file", path: "idea.md" });
  });

  it.each([[["dmeo"]], [["demo"]], [["docter", "--json"]], [["demo todo"]], [["Dmeo  2048 now"]]])(
    "refuses %j, which looks like a command",
    (words) => {
      expect(() => ideaSource(words, undefined, typed)).toThrowError(expect.objectContaining({ code: "COMMAND_MISTYPED" }));
    },
  );

  it("says what was meant, with the words that follow", () => {
    expect(() => ideaSource(["dmeo", "todo"], undefined, typed)).toThrow("Did you mean: troupe demo todo?");
    expect(() => ideaSource(["dmeo"], undefined, typed)).toThrow("troupe run dmeo");
    expect(() => ideaSource(["demo"], undefined, typed)).toThrow('"demo" is a command and stands first');
  });

  it.each([["exprimnt", "run", "coins.ts"], ["inspct"], ["experimnt run coins.ts"]])("takes %j %s %s for no idea", (...words) => {
    expect(() => ideaSource(words, undefined, typed)).toThrowError(expect.objectContaining({ code: "COMMAND_MISTYPED" }));
  });

  it.each([
    ["after run", named],
    ["with --yes", { ...typed, isConfirmed: true }],
    ["where it is a bundled idea", { ...typed, isBundled: (text: string) => text === "demo todo" }],
  ])("takes a few words that begin like a command %s", (_when, hints) => {
    expect(ideaSource(["demo todo"], undefined, hints)).toMatchObject({ kind: "words", text: "demo todo" });
  });

  it("takes any word after run: it was meant", () => {
    expect(ideaSource(["dmeo"], undefined, named)).toMatchObject({ kind: "words", text: "dmeo" });
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

it("says by an example of the command's own what is missing", () => {
  expect(() => ideaSource([], undefined, { isCommandNamed: true, example: "Say what to do: troupe agent" })).toThrow(
    "Expected an idea, got none. Say what to do: troupe agent",
  );
  expect(() => ideaSource([], undefined, { isCommandNamed: true })).toThrow("or see it work: troupe demo");
});

describe("mistypedCommand", () => {
  it.each([
    ["dmeo", "demo"],
    ["demos", "demo"],
    ["Demo", "demo"],
    ["docter", "doctor"],
    ["doctro", "doctor"],
    ["rn", "run"],
    ["runn", "run"],
    ["hlep", "help"],
    ["demo todo", "demo"],
    [" Dmeo\ttodo ", "demo"],
    ["doctor --json now", "doctor"],
    ["run it", "run"],
    ["resmue", "resume"],
    ["contiune", "continue"],
    ["anwser", "answer"],
    ["reply", "replay"],
    ["frok mabc1234", "fork"],
    ["rus", "run"],
    ["exprimnt", "experiment"],
    ["experimnt run coins.ts", "experiment"],
    ["inspct", "inspect"],
    ["hrie mabc1234 Ann", "hire"],
    ["retrie mabc1234 Ann", "retire"],
  ])("takes %j for %s", (word, command) => {
    expect(mistypedCommand(word)).toBe(command);
  });

  it("knows every command of the tree, also one that does not stand first", async () => {
    const { stdout } = await troupe("/nowhere", ["__complete", "bash", "--", ""]);
    for (const command of stdout.trimEnd().split("\n").slice(1)) expect(mistypedCommand(command)).toBe(command);
  });

  it.each([
    "2048",
    "todo",
    "tetris",
    "pacman",
    "Create a 2048 game",
    "run a marathon planner",
    "demo of a game",
    "todo list",
    "dmoe todo list",
    "rn it",
    "work timer app",
    "form builder",
    "for kids",
    "fire alarm app",
    "insect quiz",
    "",
  ])("leaves %j alone", (word) => {
    expect(mistypedCommand(word)).toBeUndefined();
  });
});
