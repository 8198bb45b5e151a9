import { describe, expect, it } from "vitest";
import { fleetEngine } from "../../src/cli/fleet.ts";
import { errorOf } from "../workspace/scratch.ts";
import { fakeHost } from "./fake-host.ts";

const at = (engine: string | undefined, env = {}): ReturnType<typeof fleetEngine> =>
  fleetEngine({ host: fakeHost({ env }) }, engine === undefined ? {} : { engine });

describe("--engine", () => {
  it("is the queue in the database of the journal, unless an option or the environment names another", () => {
    const queue = { is: "graphile" };
    expect([at(undefined), at("graphile"), at("graphile", { TROUPE_ENGINE: "restate://a" })]).toEqual([queue, queue, queue]);
    expect(at(undefined, { TROUPE_ENGINE: "restate://a" })).toMatchObject({ is: "restate" });
  });

  it("gives the addresses of a server of Restate, and the one at which the server finds a worker", () => {
    expect(at("restate://db.internal")).toEqual({
      is: "restate",
      server: { ingress: "http://db.internal:8080", admin: "http://db.internal:9070" },
    });
    expect(at("restate://[::1]:81/?admin=https://b:82&host=10.0.0.7&port=9080")).toEqual({
      is: "restate",
      server: { ingress: "http://[::1]:81", admin: "https://b:82", host: "10.0.0.7", port: 9080 },
    });
  });

  it.each([
    ["bull", '"bull"'],
    ["redis://me:secret@h", "something else"],
    ["restate://me:secret@h", "a user"],
    ["restate://h/secret", "a path"],
    ["restate:h", "no host"],
    ["restate://h?ingress=secret", '"ingress"'],
    ["restate://h?port=70000", "70000"],
  ])("refuses %s in one line, and shows no address", async (engine, said) => {
    const error = await errorOf(async () => at(engine));
    expect(error).toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining(said) });
    expect(error.message).not.toMatch(/secret|\n/);
  });
});
