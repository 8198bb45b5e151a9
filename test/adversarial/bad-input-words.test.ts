import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub } from "../../src/testing/index.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { command } from "../cli/kept-run.ts";
import { playing } from "./hostile-model.ts";
import { titled } from "../titled.ts";

const cwd = scratchFolder();

/** Words that make no sense, the code they are told with, and what the message says to do. */
const refused: readonly (readonly [words: readonly string[], code: string, todo: RegExp])[] = [
  [[""], "IDEA_MISSING", /Say what to build/],
  [["   "], "IDEA_MISSING", /Say what to build/],
  [["run"], "IDEA_MISSING", /Say what to build/],
  [["run", ""], "IDEA_MISSING", /Say what to build/],
  [["Create a game", "--file", "idea.md"], "IDEA_TWICE", /Leave one out/],
  [["Create a game", "--budget"], "COMMAND_INVALID", /troupe --help/],
  [["Create a game", "--budget", "abc"], "OPTION_INVALID", /such as 3 or 0\.50/],
  [["Create a game", "--budget", "-1"], "OPTION_INVALID", /such as 3 or 0\.50/],
  [["Create a game", "--budget", "1e9"], "OPTION_INVALID", /such as 3 or 0\.50/],
  [["Create a game", "--budget", "1", "--investment", "2"], "OPTION_CONFLICT", /Leave one out/],
  [["Create a game", "--rounds", "many"], "OPTION_INVALID", /whole number from 1/],
  [["Create a game", "--sandbox", "docker"], "OPTION_INVALID", /auto, bubblewrap, none/],
  [["Create a game", "--price", "cheap"], "OPTION_INVALID", /such as 0\.25,2/],
  [["Create a game", "--bugdet", "3"], "COMMAND_INVALID", /--budget/],
  [["Create a game", "--nonsense"], "COMMAND_INVALID", /troupe --help/],
  [["Create a game", "--base-url", "localhost"], "BASE_URL_INVALID", /http:\/\//],
  [["demo", "todo", "life"], "COMMAND_INVALID", /got 2\. See: troupe --help/],
  [["demoo"], "COMMAND_MISTYPED", /troupe demo/],
  [["docter", "--no-color"], "COMMAND_MISTYPED", /troupe doctor/],
  [["runs", "sohw", "x"], "COMMAND_INVALID", /Did you mean: troupe runs show\? See: troupe --help/],
  [["memory", "serch"], "COMMAND_INVALID", /Did you mean: troupe memory search\?/],
  [["Create", "a", "game"], "IDEA_UNQUOTED", /troupe "Create a game"/],
  [["-f", "missing.md"], "IDEA_UNREADABLE", /does not exist/],
  [["tetris"], "IDEA_DOUBTFUL", /troupe run tetris/],
  [["replay"], "COMMAND_INVALID", /troupe --help/],
  [["resume", "mabc1234"], "STORE_MISSING", /--store/],
  [["runs", "show", "mabc1234"], "STORE_MISSING", /--store/],
  [["fork", "mabc1234", "--at", "999999"], "STORE_MISSING", /--store/],
  [["runs", "gc", "--older-than", "soon"], "OPTION_INVALID", /such as 30d/],
];

describe("words that make no sense", () => {
  it.each(titled(refused))("is refused in one line, with nothing begun: %s", async (_case, words, code, todo) => {
    const at = join(cwd, String(refused.findIndex(([known]) => known === words)));
    mkdirSync(at);
    await using stub = await openaiStub({ handler: playing() });
    const ended = await command(at, words, { env: { TROUPE_BASE_URL: stub.url, OPENAI_API_KEY: "sk-hidden-hidden-hidden" } });
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(/^error: [^\n]*\n$/);
    expect(ended.stderr).toContain(`(${code})`);
    expect(ended.stderr).toMatch(todo);
    expect(ended.stderr).not.toContain("sk-hidden");
    expect(stub.requests).toEqual([]);
    expect(readdirSync(at)).toEqual([]);
  });
});
