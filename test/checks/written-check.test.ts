import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CheckSchema, CriterionSchema } from "../../src/checks/acceptance.ts";
import { outputSchema } from "../../src/model/json-schema.ts";
import { issueLine, readReply } from "../../src/model/structured-output.ts";

const command = (step: object): object => ({ kind: "command", steps: [step] });
const page = (step: object): object => ({ kind: "page", steps: [step] });
const run = ["node", "src/cli.mjs", "2", "3"];

describe("a check that a model writes", () => {
  it.each<[string, object, object]>([
    ["a command as one text", command({ run: "node src/cli.mjs 2 3" }), command({ run })],
    ["a command as one text in a list", command({ run: ["node src/cli.mjs 2 3"] }), command({ run })],
    [
      "a quoted argument",
      command({ run: `node src/cli.mjs "two words" 'it is'` }),
      command({ run: ["node", "src/cli.mjs", "two words", "it is"] }),
    ],
    [
      "nulls",
      command({ run, stdin: null, exit: null, stdout: { contains: ["5"], equals: null } }),
      command({ run, stdout: { contains: ["5"] } }),
    ],
    [
      "a step in the check itself",
      { kind: "command", run, exit: 0, stdout: { contains: "5" } },
      command({ run, exit: 0, stdout: { contains: ["5"] } }),
    ],
    ["a step without a list", { kind: "command", steps: { run } }, command({ run })],
    ["no kind, for steps that run", { steps: [{ run }] }, command({ run })],
    ["no kind, for steps on a page", { steps: [{ do: "reload" }] }, page({ do: "reload" })],
    ["a regular expression between slashes", command({ run, stdout: { matches: "/^5$/m" } }), command({ run, stdout: { matches: "^5$" } })],
    ["a file that must be there", command({ run, files: ["a.txt"] }), command({ run, files: [{ path: "a.txt" }] })],
    ["an exit code as a string", command({ run, exit: "1" }), command({ run, exit: 1 })],
    [
      "expectations of a command in one member",
      command({ run, expect: { exit: "1", stdout: "5", stderr: { contains: "no" } } }),
      command({ run, exit: 1, stdout: { equals: "5" }, stderr: { contains: ["no"] } }),
    ],
    [
      "files by their paths",
      command({ run, files: { "out.txt": { contains: "x" }, "old.txt": { exists: false }, "all.txt": "5" } }),
      command({
        run,
        files: [
          { path: "out.txt", contains: ["x"] },
          { path: "old.txt", absent: true },
          { path: "all.txt", equals: "5" },
        ],
      }),
    ],
    ["a file that exists", command({ run, files: [{ path: "b.txt", exists: true }] }), command({ run, files: [{ path: "b.txt" }] })],
    [
      "several regular expressions",
      command({ run, stdout: { matches: ["^b", "/^a$/"] } }),
      command({ run, stdout: { matches: "(?=[^]*(?:^b))(?=[^]*(?:^a$))" } }),
    ],
    ["one regular expression in a list", command({ run, stdout: { matches: ["^b"] } }), command({ run, stdout: { matches: "^b" } })],
    ["a click by its name", page({ click: "#add" }), page({ do: "click", at: "#add" })],
    ["an action with its fields inside", page({ type: { at: "#a", text: "x" } }), page({ do: "type", at: "#a", text: "x" })],
    ["an expectation by its name", page({ expect: "#list li", count: 1 }), page({ do: "expect", at: "#list li", count: 1 })],
    [
      "an expectation as a member",
      page({ expect: { at: "#list li", contains: "Milk", matches: ["M"] } }),
      page({ do: "expect", at: "#list li", contains: ["Milk"], matches: "M" }),
    ],
    [
      "the page to open",
      { kind: "page", open: "about.html", steps: [{ reload: true }] },
      { kind: "page", steps: [{ do: "open", path: "about.html" }, { do: "reload" }] },
    ],
    ["remarks", { kind: "command", description: "adds", steps: [{ run, note: "as a user does", timeout: 5 }] }, command({ run })],
    [
      "bytes",
      { ...command({ run }), given: [{ path: "a.bin", base64: "AP8=" }] },
      { ...command({ run }), given: [{ path: "a.bin", base64: "AP8=" }] },
    ],
    [
      "a path is no regular expression between slashes",
      command({ run, stdout: { matches: "/usr/bin/" } }),
      command({ run, stdout: { matches: "/usr/bin/" } }),
    ],
  ])("is read where its meaning is beyond doubt: %s", (_what, written, meant) => {
    expect(CheckSchema.parse(written)).toEqual(meant);
    expect(CheckSchema.parse(meant)).toEqual(meant);
  });

  const Answer = z.object({ criteria: z.array(z.object({ check: z.unknown().pipe(CheckSchema) })) });
  const said = (check: unknown): readonly string[] => {
    const read = readReply(JSON.stringify({ criteria: [{ check }] }), Answer, outputSchema(Answer));
    return read.ok ? [] : read.issues.map(issueLine);
  };
  const at = "criteria[0].check";

  it.each<[string, unknown, string]>([
    ["another kind", { kind: "shell", steps: [] }, `${at}.kind: expected "command" or "page" or "judgement" (got "shell")`],
    ["no kind", { steps: [{ what: 1 }] }, `${at}.kind: is missing`],
    ["no steps", { kind: "command" }, `${at}.steps: is missing`],
    [
      "a pipe",
      command({ run: "cat a | wc" }),
      `${at}.steps[0].run: expected a program and its arguments as a list, such as ["node", "src/cli.mjs", "2"]; no shell reads them (got "cat a | wc")`,
    ],
    ["a variable", command({ run: "node $FILE" }), `${at}.steps[0].run: expected a program`],
    ["a pattern of names", command({ run: "node *.mjs" }), `${at}.steps[0].run: expected a program`],
    ["another exit code", command({ run, exit: "bad" }), `${at}.steps[0].exit: expected number or "failure" (got "bad")`],
    ["a wrong exit code in the check itself", { kind: "command", run, exit: "bad" }, `${at}.steps[0].exit: expected number or "failure"`],
    [
      "an expectation in words",
      command({ run, expect: "it prints 5" }),
      `${at}.steps[0].expect: a command has no "expect"; write exit, stdout, stderr or files (got "it prints 5")`,
    ],
    [
      "an expectation beside another one",
      command({ run, exit: 0, expect: { exit: 1 } }),
      `${at}.steps[0].expect: a command has no "expect"`,
    ],
    [
      "a rule for a file without its path",
      command({ run, files: { contains: "x" } }),
      `${at}.steps[0].files: Invalid input: expected array`,
    ],
    ["a file that exists and is absent", command({ run, files: [{ path: "a", exists: true, absent: true }] }), `${at}.steps[0].files[0]`],
    ["two actions in one step", page({ click: "#a", press: "Enter" }), `${at}.steps[0].do: is missing`],
    [
      "several regular expressions with flags",
      command({ run, stdout: { matches: ["/a/i", "b"] } }),
      `${at}.steps[0].stdout.matches: Invalid input: expected string`,
    ],
    ["an unknown step", page({ do: "hover", at: "#x" }), `${at}.steps[0].do: expected "open" or "click"`],
    ["a step without its element", page({ do: "click" }), `${at}.steps[0].at: is missing`],
    [
      "flags that cannot be set",
      command({ run, stdout: { matches: "/a/i" } }),
      `${at}.steps[0].stdout.matches: write a regular expression without slashes`,
    ],
    ["no regular expression", command({ run, stdout: { matches: "(" } }), `${at}.steps[0].stdout.matches: is no regular expression`],
    ["an unknown rule", command({ run, stdout: { startsWith: "5" } }), `${at}.steps[0].stdout`],
    ["a rule beside the steps", { ...command({ run }), stdout: { equals: "5" } }, `${at}`],
    ["an expectation in an action", page({ do: "click", at: "#x", count: 1 }), `${at}.steps[0]`],
    [
      "text and bytes of one file",
      { ...command({ run }), given: [{ path: "a", content: "", base64: "" }] },
      `${at}.given[0]: write either "content"`,
    ],
    [
      "a file that is absent with a text",
      command({ run, files: [{ path: "a", absent: true, equals: "" }] }),
      `${at}.steps[0].files[0]: a file that must be absent`,
    ],
    ["a number for texts", command({ run, stdout: { contains: 5 } }), `${at}.steps[0].stdout.contains: expected array or string (got 5)`],
  ])("is refused in one line that says what is wrong where: %s", (_what, check, line) => {
    const lines = said(check);
    expect(lines, lines.join("\n")).toHaveLength(1);
    expect(lines[0]?.slice(0, line.length)).toBe(line);
  });

  it("is read in a criterion that was written down", () => {
    const criterion = { id: "A1", priority: "P0", given: "", when: "", then: "", check: { kind: "command", run: "node a.mjs" } };
    expect(CriterionSchema.parse(criterion).check).toEqual(command({ run: ["node", "a.mjs"] }));
  });
});
