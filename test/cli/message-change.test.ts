import { describe, expect, it } from "vitest";
import { WritePrd } from "../../actions/index.ts";
import { editedMessage, wantedDrop, wantedEdit } from "../../src/cli/commands/fork.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryWorkspace } from "../../src/workspace/index.ts";
import { prd } from "../actions/greeter.ts";
import { recorded, says, word } from "./recorded-run.ts";

const actions = [new WritePrd({ workspace: memoryWorkspace() })];
const [idea, said] = recorded([
  { type: "message", message: word("UserRequirement"), to: ["Alice"] },
  says("Alice", word("WritePrd", prd), word("Other", { any: "thing" })),
]) as readonly [RunEvent, RunEvent];

describe("what the options of a fork mean", () => {
  it.each([
    ["12=idea.md", { seq: 12, nth: 0, file: "idea.md" }],
    ["12.3=a=b.md", { seq: 12, nth: 3, file: "a=b.md" }],
    ["0=-", { seq: 0, nth: 0, file: "-" }],
  ])("--edit %s", (text, edit) => {
    expect(wantedEdit(text)).toEqual(edit);
  });

  it.each(["", "12", "=x", "12=", "x=y", "-1=y", "1.=y", "99999999999=y"])("refuses --edit %j", (text) => {
    expect(() => wantedEdit(text)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }) as Error);
  });

  it("--drop", () => {
    expect(wantedDrop("7")).toEqual({ seq: 7, nth: 0, drop: true });
    expect(wantedDrop("7.1")).toEqual({ seq: 7, nth: 1, drop: true });
    for (const text of ["", "x", "7.", "7=8"])
      expect(() => wantedDrop(text)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }) as Error);
  });
});

describe("a message that is edited", () => {
  it("says the text, where it is a text", () => {
    expect(editedMessage({ seq: 0, nth: 0, file: "f" }, " Build a boat\n", idea, actions)).toEqual({
      seq: 0,
      nth: 0,
      content: "Build a boat",
    });
  });

  it("carries the data, where it carries data, and its words follow", () => {
    const other = { ...prd, projectName: "boat" };
    const change = editedMessage({ seq: 1, nth: 0, file: "f" }, JSON.stringify(other), said, actions);
    expect(change.instructContent).toEqual(other);
    expect(change.content).toContain("# Requirements: boat");
  });

  it("keeps its words where nobody knows how they follow from its data", () => {
    expect(editedMessage({ seq: 1, nth: 1, file: "f" }, "[1]", said, actions)).toEqual({ seq: 1, nth: 1, instructContent: [1] });
  });

  it.each(["Build a boat", "{}", '{"projectName": 1}'])("is refused as %j, which is not what it carries", (text) => {
    expect(() => editedMessage({ seq: 1, nth: 0, file: "f" }, text, said, actions)).toThrow(
      expect.objectContaining({ code: "EDIT_INVALID", message: expect.stringContaining("WritePrd") as string }) as Error,
    );
  });

  it("is refused where there is none", () => {
    expect(() => editedMessage({ seq: 1, nth: 2, file: "f" }, "x", said, actions)).toThrow(
      expect.objectContaining({ code: "FORK_CHANGE" }) as Error,
    );
  });
});
