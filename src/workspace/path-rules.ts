import { kinds } from "../kernel/option-kinds.ts";
import { aText, takes } from "../kernel/argument.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { unlessMapped } from "../kernel/mapped.ts";
import { shownText } from "../kernel/value-text.ts";

/** Ends the names of files that are still being written; such names are the workspace's own. */
export const TEMPORARY_SUFFIX = ".troupe-tmp";

/** Folders a workspace neither shows nor writes: git's, this package's, and installed packages. */
const HIDDEN_FOLDERS: readonly string[] = [".git", ".troupe", "node_modules"];

/** Room below the 255 bytes of common file systems, so that a temporary name fits as well. */
const SEGMENT_BYTES = 200;
/** Leaves room for a root before the 4096 bytes of Linux and the 1024 of macOS end. */
const PATH_BYTES = 400;
const DEPTH = 20;

const RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])$/i;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** Characters that Windows forbids in names; a colon also opens a second stream of a file there. */
const NOT_PORTABLE = /[<>:"|?*]/;
const SHORT_NAME = /^(git|troupe)~[0-9]+$/i;

/**
 * Returns the one normal form of a path inside a project: relative, joined by `/`. Links on disk are another check.
 *
 * @throws WorkspaceError `WORKSPACE_PATH` for a path that leaves the project, that some system reserves, or that is hidden or too long.
 */
export function checkPath(path: string): string {
  takes("checkPath", "path", path, aText);
  const fault = faultOf(path);
  if (fault !== undefined) throw pathError(path, fault);
  return segmentsOf(path).join("/");
}

/** True when {@link checkPath} takes the path and gives it back unchanged. */
export function isNormalPath(path: string): boolean {
  return faultOf(path) === undefined && segmentsOf(path).join("/") === path;
}

/** The error for a path that is refused. `fault` completes the sentence "it ...". */
export function pathError(path: string, fault: string): WorkspaceError {
  const shown = visible(path);
  return new WorkspaceError(
    "WORKSPACE_PATH",
    `Expected a relative path of a file inside the project, got "${shown}": it ${fault}. Use a path such as src/app.js.`,
    { data: { path: shown, fault } },
  );
}

/** Text that can be shown on a screen: unprintable characters as `\u{...}`, at most `limit` characters. */
export function visible(text: string, limit?: number): string;
/** As `map` calls it. */
export function visible(text: string, index: number, list: readonly string[]): string;
export function visible(text: string, given?: number, list?: readonly string[]): string {
  takes("visible", "text", text, aText);
  const limit = unlessMapped<number>(given, list, 200);
  takes("visible", "limit", limit, kinds.count);
  return shownText(text, limit);
}

/** The same for text of several lines, which stay lines; empty ones are left out. */
export function visibleLines(text: string, limit = 500): string {
  const lines = text.slice(0, limit).split(/\r\n?|\n/);
  const shown = lines.map((line) => visible(line.trimEnd(), limit)).filter((line) => line !== "");
  return `${shown.join("\n")}${text.length > limit ? "..." : ""}`;
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

function faultOf(path: string): string | undefined {
  if (UNPRINTABLE.test(path)) return "has unprintable characters";
  if (path.includes("\\")) return "has a backslash; folders are separated by /";
  if (path.startsWith("/") || /^[a-z]:/i.test(path)) return "is absolute";
  if (path.endsWith("/")) return "names a folder";
  if (Buffer.byteLength(path) > PATH_BYTES) return `is longer than ${PATH_BYTES} bytes`;
  const segments = segmentsOf(path);
  if (segments.length === 0 || path.endsWith("/.")) return "names no file";
  if (segments.length > DEPTH) return `is more than ${DEPTH} folders deep`;
  for (const segment of segments) {
    const fault = segmentFault(segment);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function segmentFault(segment: string): string | undefined {
  if (segment === "..") return "leaves the project with ..";
  if (NOT_PORTABLE.test(segment)) return 'has one of < > : " | ? *, which some systems cannot store';
  if (/[. ]$/.test(segment) || segment.startsWith(" ")) return "has a name that starts with a space or ends with a dot or a space";
  if (isHidden(segment) || SHORT_NAME.test(segment)) return `goes into ${segment.toLowerCase()}, which is not the project's to write`;
  if (RESERVED.test((segment.split(".")[0] ?? "").trim())) return `has the name ${segment}, which Windows reserves`;
  if (segment.endsWith(TEMPORARY_SUFFIX)) return `ends with ${TEMPORARY_SUFFIX}, which marks files being written`;
  if (Buffer.byteLength(segment) > SEGMENT_BYTES) return `has a name longer than ${SEGMENT_BYTES} bytes`;
  return undefined;
}

/** True when a file or folder name is one of the hidden folders, in any case. */
export function isHidden(name: string): boolean {
  return HIDDEN_FOLDERS.includes(name.toLowerCase());
}
