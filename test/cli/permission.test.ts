import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  answersText,
  callLines,
  changesFiles,
  explanation,
  type PermissionQuestion,
  type ReadFile,
  wholeCall,
} from "../../src/cli/permission.ts";
import { main } from "../../src/cli/program.ts";
import { styleFor, withoutCodes } from "../../src/cli/screen/text.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { calls, command, eventsIn, newestIn, reach, serving, terminalHost } from "./kept-run.ts";

const style = styleFor(false);

function question(args: JsonObject, tool = "editor"): PermissionQuestion {
  return { id: "q", role: "Agent", text: "?", tool, args };
}

describe("a call in question", () => {
  it("sends nothing to the terminal but text", async () => {
    const asked = question({ command: "create", path: "a\u001b[2J.md", content: "\u001b]0;owned\u0007\n\u202emd.exe\r\u009b31m" });
    const all = [...callLines(asked), ...(await wholeCall(asked, () => Promise.resolve("old\u001b[1A"), style))];
    expect(all.join("\n")).not.toMatch(/[^\P{C}\n]/u);
    expect(all.join("\n")).toContain(String.raw`\u{1b}[2J`);
  });
});

describe("the answers to a call", () => {
  const none: ReadFile = () => Promise.resolve(undefined);

  it("offer a diff for changes of files alone", async () => {
    for (const [args, isChange] of [
      [{ command: "create", path: "a.md", content: "x" }, true],
      [{ files: [{ path: "a.md", content: "x" }] }, true],
      [{ command: "ls -l" }, false],
      [{ path: "a.md" }, false],
      [{ url: "https://example.com", content: "x" }, false],
      [{}, false],
    ] as const) {
      const asked = question(args);
      expect(await changesFiles(asked, none)).toBe(isChange);
      expect(answersText(asked, isChange).includes("diff")).toBe(isChange);
      for (const answer of ["yes", "no", "always", "change"]) expect(explanation(asked, isChange).join("\n")).toContain(`  ${answer} `);
    }
  });

  it("follow the path, the command and the address, wherever the call has them", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(["path", "command", "url", "content", "overwrite", "line"], { minLength: 1 }), (names) => {
        const lines = callLines(question(Object.fromEntries(names.map((name) => [name, "x"]))));
        const first = ["path", "command", "url"].filter((name) => names.includes(name));
        expect(lines.map((line) => line.trim().split(" ")[0])).toEqual([...first, ...names.filter((name) => !first.includes(name))]);
      }),
    );
  });
});

const NEW = { command: "create", path: "note.txt", content: "buy milk\n" };
const MORE = { command: "insert", path: "note.txt", line: 1, new: "buy bread" };

describe("an agent at the terminal", () => {
  it("shows the change before it is allowed, and asks again", async () => {
    await using stub = await serving(calls("editor", NEW), { text: "written" });
    const host = terminalHost();
    host.answers("", "?", "d", "y");
    expect(await main(host, ["agent", "note it", "--yes", ...reach(stub), "--out", "notes", "--no-color"])).toBe(0);
    const said = withoutCodes(host.stderr.text);
    expect(said).toMatch(
      /Agent asks to use editor:\n {2}path +note\.txt\n {2}command +create\n {2}content +buy milk\n {2}overwrite +false\nAnswer /,
    );
    expect(said.match(/Answer yes, no, always \(editor, for the rest of this run\), change,\s+show\s+diff,\s+\?\./g)).toHaveLength(4);
    expect(said).toMatch(/editor says: [^]*\n {2}yes +allows this call\n[^]*\n {2}show diff +shows what/);
    expect(said).toMatch(/note\.txt\n {2}\+ buy milk\n/);
    expect(readFileSync(join(host.cwd, "notes/note.txt"), "utf8")).toBe("buy milk\n");
  });

  it("is not asked for that tool again after an always, in this run and where it goes on", async () => {
    await using stub = await serving(calls("editor", NEW), calls("editor", MORE), { text: "written" });
    const host = terminalHost();
    host.answers("always");
    expect(await main(host, ["agent", "note it", "--yes", ...reach(stub), "--out", "notes"])).toBe(0);
    expect(host.stderr.text.match(/asks to use editor/g)).toHaveLength(1);
    expect(readFileSync(join(host.cwd, "notes/note.txt"), "utf8")).toBe("buy milk\nbuy bread\n");
    const id = await newestIn(host.cwd);
    const events = eventsIn((await command(host.cwd, ["runs", "events", id, "--json"])).stdout);
    expect(events.filter((event) => event.type === "step.ended" && event.value === "always")).toHaveLength(2);
    await using later = await openaiStub({
      handler: ({ messages }) => (messages.at(-1)?.role === "tool" ? { text: "done" } : calls("editor", { ...MORE, new: "buy tea" })),
    });
    // Nobody is there to be asked now.
    const told = await command(host.cwd, ["tell", id, "tea too", "--base-url", later.url]);
    expect(told).toMatchObject({ code: 0 });
    expect(readFileSync(join(host.cwd, "notes/note.txt"), "utf8")).toContain("buy tea");
    expect((await command(host.cwd, ["replay", id])).code).toBe(0);
  });

  it("is allowed with other arguments, which the person types: an empty line keeps what it wants", async () => {
    await using stub = await serving(calls("editor", NEW), { text: "written" });
    const host = terminalHost();
    let isChanged = false;
    host.stderr.on("data", (text: string) => {
      if (!withoutCodes(text).endsWith("> ")) return;
      const field = /\n +(\w+) \([^\n]*\)\n(?: [^\n]*\n)*> $/.exec(withoutCodes(host.stderr.text))?.[1];
      host.stdin.write(!isChanged ? "change\n" : field === "content" ? "buy tea\n" : "\n");
      isChanged = true;
    });
    expect(await main(host, ["agent", "note it", "--yes", ...reach(stub), "--out", "notes", "--no-color"])).toBe(0);
    expect(readFileSync(join(host.cwd, "notes/note.txt"), "utf8")).toBe("buy tea");
    expect(JSON.stringify(stub.requests.at(-1)?.messages.at(-1))).toContain("A person changed the arguments.");
  });
});
