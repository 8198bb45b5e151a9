import { Server, Socket } from "node:net";
import { expect, it, vi } from "vitest";
import { openai } from "../../src/adapters/openai.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { openaiStub } from "../../src/testing/index.ts";

it("a run connects to its model server only, and opens no port", async () => {
  await using stub = await openaiStub({ handler: () => ({ text: "Welcome." }) });
  using connect = vi.spyOn(Socket.prototype, "connect");
  using listen = vi.spyOn(Server.prototype, "listen");
  const Greet = defineAction({ name: "Greet", prompt: ({ text }) => `Greet ${text}.` });
  const model = openai({ model: "m", baseURL: stub.url, apiKey: "none" });
  const { output } = await new Team({ roles: [defineRole({ name: "Ann", actions: [Greet] })], model }).run("Ada").result;
  const ports = connect.mock.calls.map((call) => JSON.stringify(call)).map((call) => /"port":"?(\d+)/.exec(call)?.[1] ?? call);
  expect([output?.content, new Set(ports), listen.mock.calls]).toEqual(["Welcome.", new Set([new URL(stub.url).port]), []]);
});
