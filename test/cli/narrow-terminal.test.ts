import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { agrees, confirmPaidRun } from "../../src/cli/prompt.ts";
import { widthOf, withoutCodes } from "../../src/cli/screen/text.ts";
import { inSession } from "../../src/cli/session.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { findProgram } from "../../src/workspace/program-path.ts";
import { someOf } from "../long.ts";
import { type FakeHost, fakeHost } from "./fake-host.ts";
import { freshFolder, newestIn } from "./kept-run.ts";
import { Terminal } from "./terminal.ts";

const hasPython = findProgram("python3") !== undefined;
if (!hasPython) process.stderr.write("\nNo real terminal is opened: there is no python3 (apt-get install python3)\n");

function seat(columns: number, cwd = freshFolder()): FakeHost {
  const host = fakeHost({ isTTY: true, cwd, clock: systemClock });
  for (const stream of [host.stdout, host.stderr]) Object.assign(stream, { columns, rows: columns === 0 ? 0 : 24 });
  return host;
}

/** Lines that are wider than the terminal although they could have been broken: they have several words. */
function tooWide(lines: readonly string[], columns: number): readonly string[] {
  return lines.filter((line) => widthOf(line) >= columns && line.trim().includes(" "));
}

describe("a terminal that does not know its width, or is narrow", () => {
  it.each([0, 20, 40])(
    "of %i columns shows a run and its result without a line that breaks, and ids whole",
    { tags: ["company", "long"] },
    async (columns) => {
      const host = seat(columns);
      const terminal = new Terminal();
      host.stderr.on("data", (text: string) => terminal.write(text));
      expect(await main(host, ["demo", "--no-run-tests", "--no-color"])).toBe(6);
      const width = columns === 0 ? 80 : columns;
      expect(tooWide([...terminal.screen, ...withoutCodes(host.stdout.text).split("\n")], width)).toEqual([]);
      expect(host.stderr.text).not.toContain("Infinity");
      const id = await newestIn(host.cwd);
      const short = id.slice(0, id.indexOf("-"));
      expect(terminal.screen.join("\n")).toMatch(new RegExp(`\\brun\\s+${short}\\b`));
      expect(withoutCodes(host.stdout.text)).toMatch(new RegExp(`\\bRun\\s+${short}\\n`));
      const listing = seat(columns, host.cwd);
      expect(await main(listing, ["runs", "ls"])).toBe(0);
      expect(listing.stdout.text).toContain(short);
      const shown = seat(columns, host.cwd);
      expect(await main(shown, ["runs", "show", id])).toBe(0);
      expect(withoutCodes(shown.stdout.text)).toContain(id);
    },
  );

  it.each([0, 20, 40])("of %i columns asks readably", async (columns) => {
    const host = seat(columns);
    const code = inSession(host, {}, async (session) => {
      await confirmPaidRun(session, {
        idea: "Write a word counter that reads a file",
        model: "gpt-5-mini, key from OPENAI_API_KEY",
        budget: undefined,
        bounds: "20 rounds",
        folder: "workspace/word-counter",
        tests: "run in bubblewrap",
      });
      return (await agrees(session, "Go on?")) ? 0 : 1;
    });
    host.stderr.on("data", (text: string) => withoutCodes(text).endsWith("] ") && host.stdin.write("y\n"));
    expect(await code).toBe(0);
    const said = withoutCodes(host.stderr.text).split("\n");
    const asked = said.filter((line) => !/\[[yY]\/[nN]\]/.test(line));
    expect(tooWide(asked, columns === 0 ? 80 : columns)).toEqual([]);
    expect(said.join("\n")).toContain("workspace/word-counter");
  });
});

/** Opens a terminal of a width, runs a command in it, and prints all that it showed. */
const IN_TERMINAL = `
import fcntl, os, pty, struct, sys, termios
columns, words = int(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    os.execvp(words[0], words)
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`;

const MAIN = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));

describe.runIf(hasPython)("a real terminal", () => {
  it.each(someOf([20, 0, 80], 1))("of %i columns is drawn on, and has its cursor back at the end", { tags: "company" }, (columns) => {
    const { PATH = "", HOME = "" } = process.env;
    const words = ["-c", IN_TERMINAL, String(columns), process.execPath, MAIN, "demo", "--no-run-tests"];
    const { status, stdout } = spawnSync("python3", words, {
      cwd: freshFolder(),
      env: { PATH, HOME, TERM: "xterm-256color" },
      encoding: "utf8",
      timeout: 60_000,
    });
    expect(status).toBe(6);
    expect(stdout.lastIndexOf("\u001b[?25h")).toBeGreaterThan(stdout.lastIndexOf("\u001b[?25l"));
    expect(stdout).toContain("not checked");
    expect(tooWide(withoutCodes(stdout).split(/[\r\n]+/), columns === 0 ? 80 : columns)).toEqual([]);
  });
});
