import { describe, expect, it } from "vitest";
import { type Delivery, softwareCompany } from "../../roles/index.ts";
import { openai } from "../../src/adapters/openai.ts";
import { VerificationCache } from "../../src/checks/verification-cache.ts";
import { type DemoIdea, demoIdeas, demoModel } from "../../src/cli/demo-script.ts";
import { memoryJournal, type RunResult, Team, usd } from "../../src/index.ts";
import { type OpenAIBody, OpenAIBodySchema } from "../../src/testing/stub-reply.ts";
import { openWorkspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { sandbox } from "./company-trial.ts";
import { scriptRequest, STRICT, WEAK, type WeakServer } from "./weak-servers.ts";

const idea = (await demoIdeas()).find(({ id }) => id === "shopping") as DemoIdea;
const seen = new VerificationCache(sandbox);
const signal = new AbortController().signal;

interface Played {
  readonly requests: number;
  readonly refused: number;
  readonly results: readonly unknown[];
  readonly files: Readonly<Record<string, string | undefined>>;
}

/** Plays the demo, with its change, on a server. */
async function play(server: WeakServer, key: string): Promise<Played> {
  const bodies: OpenAIBody[] = [];
  let refused = 0;
  const script = demoModel(idea);
  const fetch = async (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    const body = OpenAIBodySchema.parse(JSON.parse(String(init?.body)));
    bodies.push(body);
    const refusal = server.refusal?.(body);
    if (refusal !== undefined) {
      refused++;
      return Response.json(refusal[1], { status: refusal[0] });
    }
    const reply = await script.chat(scriptRequest(body), { signal });
    const lines = server.events(reply, body).map((event) => `data: ${JSON.stringify(event)}\n\n`);
    return new Response(`${lines.join("")}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  };
  const model = openai({ model: "m", baseURL: "http://127.0.0.1:1/v1", apiKey: key, price: idea.price, fetch });
  const workspace = await openWorkspace({ root: scratchFolder() });
  const roles = softwareCompany({ workspace, sandbox, verify: ({ sandbox: _sandbox, ...request }) => seen.verify(request, () => true) });
  const team = new Team({ roles, model, journal: memoryJournal(), seed: 1, budget: usd(3) });
  const first = await team.run(idea.idea, { id: "run", rounds: 40 }).result;
  const changed = await team.resume("run", { add: [idea.change ?? ""], rounds: 40 }).result;
  const files = Object.fromEntries(
    await Promise.all((await workspace.list()).map(async (path) => [path, await workspace.read(path)] as const)),
  );
  return { requests: bodies.length, refused, results: [first, changed].map(shown), files };
}

function shown({ status, error, output }: RunResult): unknown {
  const { isDone, verification } = (output?.instructContent ?? {}) as Partial<Delivery>;
  const verdicts = verification?.verdicts.map(({ id, outcome }) => `${id} ${outcome}`);
  return { status, error: error?.message, isDone, verdicts };
}

describe("the demo company", async () => {
  const strict = await play(STRICT, "strict");

  it("finishes on a strict server", () => {
    expect(strict.refused).toBe(0);
    expect(strict.results).toMatchObject([
      { status: "finished", isDone: true },
      { status: "finished", isDone: true },
    ]);
  });

  it.each(WEAK)("needs at most one request more on a server that $name", async (server) => {
    const weak = await play(server, server.name.replace(/\W/g, "-"));
    expect(weak.results).toEqual(strict.results);
    expect(weak.files).toEqual(strict.files);
    expect([weak.refused, weak.requests]).toEqual([server.refusals, strict.requests + server.refusals]);
  });
});
