import { expect, it } from "vitest";
import { createClient, type RunClient } from "../../src/client/index.ts";

/** A client whose first connections break off. */
function clientOf(broken: number): RunClient {
  let left = broken;
  const fetch = async (): Promise<Response> => {
    left -= 1;
    if (left >= 0) throw new TypeError("fetch failed");
    return Response.json({ id: "a" });
  };
  return createClient({ url: "http://127.0.0.1:1", fetch });
}

it("asks again what changes nothing when a connection breaks off, and tells when the next one does too", async () => {
  expect(await clientOf(1).read("a")).toEqual({ id: "a" });
  await expect(clientOf(2).read("a")).rejects.toMatchObject({ code: "SERVER_UNREACHABLE" });
});

it("does not ask again what may have been done", async () => {
  await expect(clientOf(1).start({ idea: "go" })).rejects.toMatchObject({ code: "SERVER_UNREACHABLE" });
});
