import { readFileSync } from "node:fs";

export function procText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** The fields of a process in `stat`, from its state on; empty for a process that does not exist. */
export function processFields(pid: number | string, proc = "/proc"): readonly string[] {
  const stat = procText(`${proc}/${pid}/stat`);
  // The name of the program may hold spaces and brackets: the fields begin behind the last one.
  return stat === "" ? [] : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** True for a process that has ended and only waits for its parent. */
export function hasEnded([state]: readonly string[]): boolean {
  return state === "Z" || state === "X";
}
