import { describe, expect, it } from "vitest";
import { Interruptions } from "../../src/cli/host.ts";
import { fakeHost } from "./fake-host.ts";

function closedPipe(): Error {
  return Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
}

describe("Interruptions", () => {
  it("Interruptions.I1 aborts with the first and ends nothing", () => {
    const host = fakeHost();
    const interruptions = new Interruptions(host);
    expect(interruptions.signal.aborted).toBe(false);
    host.signal("SIGINT");
    expect(interruptions).toMatchObject({
      first: "SIGINT",
      signal: { aborted: true, reason: { code: "ABORTED", message: "Stopped: Ctrl-C was pressed." } },
    });
    expect(host.exits).toEqual([]);
  });

  it("Interruptions.I2 ends at once with the second, with the code of the first", () => {
    const host = fakeHost();
    const interruptions = new Interruptions(host);
    host.signal("SIGTERM");
    host.signal("SIGINT");
    expect(host.exits).toEqual([143]);
    expect(interruptions.first).toBe("SIGTERM");
  });

  it("Interruptions.I3 takes a closed pipe for an interruption and never ends at once for one", () => {
    const host = fakeHost();
    const interruptions = new Interruptions(host);
    host.stdout.emit("error", closedPipe());
    host.stdout.emit("error", closedPipe());
    expect(interruptions.first).toBe("pipe");
    host.signal("SIGINT");
    expect(host.exits).toEqual([0]);
  });
});
