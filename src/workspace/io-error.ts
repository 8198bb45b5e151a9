import { systemCode } from "../kernel/system-error.ts";
import { TroupeError, WorkspaceError } from "../kernel/errors.ts";
import { visible } from "./path-rules.ts";

/**
 * A failed file operation as a typed error: `WORKSPACE_FULL` (no space, quota), `WORKSPACE_UNWRITABLE` (no permission, read-only),
 * `WORKSPACE_NOT_A_FOLDER` (a file on the way), `WORKSPACE_IO` for the rest. An error that is typed already stays as it is.
 *
 * @param doing what was tried, as in "write src/app.js"
 */
export function ioError(error: unknown, doing: string, path: string): TroupeError {
  if (TroupeError.isInstance(error)) return error;
  const code = systemCode(error);
  const shown = visible(path);
  const what = `Expected to ${visible(doing)}, got ${code === "" ? "an unknown failure" : code}`;
  const detail = { cause: error, data: { path: shown, system: code } };
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new WorkspaceError(
        "WORKSPACE_FULL",
        `${what}: there is no space left. Free some, then resume; what was written is kept.`,
        detail,
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
    // A folder that takes no new file answers ENOENT on some file systems, /proc for one; so does one that was removed meanwhile.
    case "ENOENT":
      return new WorkspaceError("WORKSPACE_UNWRITABLE", `${what}: "${shown}" cannot be changed. Choose a folder you may write to.`, detail);
    case "ENOTDIR":
    case "EEXIST":
      return new WorkspaceError(
        "WORKSPACE_NOT_A_FOLDER",
        `${what}: a file stands where a folder is needed, at or above "${shown}". Choose another folder, or move the file away.`,
        detail,
      );
    default:
      return new WorkspaceError("WORKSPACE_IO", `${what} at "${shown}". Check the disk and the folder, then resume.`, detail);
  }
}
