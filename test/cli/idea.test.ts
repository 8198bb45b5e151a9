import { describe, expect, it } from "vitest";
import { IDEA_BYTES, type IdeaReaders, ideaSource, mistypedCommand, readIdea } from "../../src/cli/idea.ts";
import { titled } from "../titled.ts";
import { command as troupe } from "./kept-run.ts";

const nothing: IdeaReaders = {
  file: () => Promise.reject(new Error("no file was to be read")),
  stdin: () => Promise.reject(new Error("no input was to be read")),
};

function reading(bytes: Uint8Array | string): IdeaReaders {
  const all = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  const first = (limit: number): Promise<Uint8Array> => Promise.resolve(all.slice(0, limit));
  return { file: (_path, limit) => first(limit), stdin: first };
}

function failing(code: string): IdeaReaders {
  return { ...nothing, file: () => Promise.reject(Object.assign(new Error("no"), { code })) };
}

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
    expect(ideaSource(["-"], undefined, typed)).toEqual({ kind: "stdin" });
    expect(ideaSource([], "-", typed)).toEqual({ kind: "stdin" });
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
  it("reads a file or standard input, without the white space around", async () => {
    expect(await readIdea({ kind: "file", path: "idea.md" }, reading("\ufeff# A game\n\nwith tiles\n"))).toBe("# A game\n\nwith tiles");
    expect(await readIdea({ kind: "stdin" }, reading(" a game\n"))).toBe("a game");
  });

  it.each([
    ["zeros", new Uint8Array([65, 0, 66])],
    ["bytes that are not UTF-8", new Uint8Array([0xff, 0xfe, 0x41, 0x00])],
    ["half a character", new TextEncoder().encode("é").slice(0, 1)],
  ])("refuses %s", async (_what, bytes) => {
    await expect(readIdea({ kind: "file", path: "idea.md" }, reading(bytes))).rejects.toMatchObject({ code: "IDEA_BINARY" });
  });

  it.each(["", " \n\t "])("refuses the empty text %j", async (text) => {
    await expect(readIdea({ kind: "stdin" }, reading(text))).rejects.toMatchObject({ code: "IDEA_MISSING" });
  });

  it.each([
    ["ENOENT", "does not exist"],
    ["EISDIR", "is a folder"],
    ["EACCES", "may not be read"],
  ])("says of %s that the file %s", async (code, words) => {
    const failed = readIdea({ kind: "file", path: "idea.md" }, failing(code));
    await expect(failed).rejects.toMatchObject({ code: "IDEA_UNREADABLE" });
    await expect(failed).rejects.toThrow(words);
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
