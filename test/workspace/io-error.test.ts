import { describe, expect, it } from "vitest";
import { AbortedError, WorkspaceError } from "../../src/kernel/errors.ts";
import { ioError } from "../../src/workspace/folders.ts";

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: something`), { code });
}

describe("ioError", () => {
  it.each([
    ["ENOSPC", "WORKSPACE_FULL"],
    ["EDQUOT", "WORKSPACE_FULL"],
    ["EACCES", "WORKSPACE_UNWRITABLE"],
    ["EPERM", "WORKSPACE_UNWRITABLE"],
    ["EROFS", "WORKSPACE_UNWRITABLE"],
    ["ENOENT", "WORKSPACE_UNWRITABLE"],
    ["ENOTDIR", "WORKSPACE_NOT_A_FOLDER"],
    ["EEXIST", "WORKSPACE_NOT_A_FOLDER"],
    ["EIO", "WORKSPACE_IO"],
    ["EMFILE", "WORKSPACE_IO"],
  ])("makes %s a %s that says what was tried, what came and what to do", (system, code) => {
    const cause = failure(system);
    const error = ioError(cause, "write src/app.js", "src/app.js");
    expect(error).toBeInstanceOf(WorkspaceError);
    expect(error).toMatchObject({ code, data: { path: "src/app.js", system }, cause });
    expect(error.message.startsWith(`Expected to write src/app.js, got ${system}`)).toBe(true);
    expect(error.message).toMatch(/(Free some|Choose a folder|Choose another folder|Check the disk)/);
  });

  it("keeps errors that are typed already", () => {
    for (const error of [new WorkspaceError("WORKSPACE_PATH", "m"), new AbortedError()]) expect(ioError(error, "x", "y")).toBe(error);
  });
});
