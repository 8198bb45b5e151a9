import fc from "fast-check";
import type { SpanContext } from "@opentelemetry/api";
import { describe, expect, test } from "vitest";
import { MessageOrigins } from "../../src/adapters/otel-origins.ts";
import { byzantine, corrupt, delay, drop, duplicate } from "../../src/edges/index.ts";
import { endOf } from "../../src/inspector/view/lanes.ts";
import { RunTimeline } from "../../src/inspector/view/run-timeline.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf } from "../team/recorded.ts";
import { answering } from "../runtime/town.ts";
import { storedIn } from "../memory/role-setup.ts";
import { live } from "../properties/lives.ts";
import { netSketch, stepNet } from "../properties/step-nets.ts";
import { tries } from "../long.ts";

const edges = [drop(0.3), duplicate(0.3), corrupt(0.3), delay(0, 2)];

async function eventsOfNet(sketch: Parameters<typeof stepNet>[0]) {
  return (await live({ roles: () => stepNet(sketch), options: { edges } })).events;
}

/** The id of the message that a copy was made of. */
const sentId = (id: string): string => id.replace(/\*\d+$/, "");

describe("readers of a record with faults", () => {
  test(
    "property: DeliveryTable.W1 the inspector has in mailboxes what the runtime's state has there, after every event",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(netSketch, async (sketch) => {
          const timeline = new RunTimeline();
          timeline.add(await eventsOfNet(sketch));
          expect(timeline.trouble).toBeUndefined();
          const { sent, deliveries } = timeline.record;
          const all = Array.from({ length: deliveries.size }, (_, index) => deliveries.at(index)).filter(
            (delivery) => delivery?.isDouble === false,
          );
          for (let seq = 0; seq < timeline.length; seq += 1) {
            const isOver = (end: number | undefined): boolean => end !== undefined && end <= seq;
            for (const role of timeline.stateAt(seq).roles.values()) {
              const there = all.filter(
                (delivery) => delivery?.role === role.name && isOver(delivery.delivered) && !isOver(delivery.consumed ?? delivery.dropped),
              );
              const ids = there.map((delivery) => sent[delivery?.sent ?? -1]?.message.id ?? "");
              expect(ids.toSorted()).toEqual(
                role
                  .news()
                  .map(({ id }) => sentId(id))
                  .toSorted(),
              );
            }
          }
          const fates = all.map((delivery) => delivery && endOf(delivery, timeline.length).fate);
          expect(fates.filter((fate) => fate === "lost")).toHaveLength(timeline.now.faults.lost);
        }),
        { numRuns: tries(4, 60) },
      );
    },
  );

  test(
    "property: MessageOrigins.O1 MessageOrigins.O2 a trace knows the sender of each message that arrived, and no content",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(netSketch, async (sketch) => {
          const origins = new MessageOrigins();
          for (const event of await eventsOfNet(sketch)) {
            if (event.type === "act.ended" || event.type === "act.failed") {
              for (const { message, sender } of origins.arrivals(event.role, event.take)) {
                expect(sender?.spanId).toBe(message.sentFrom === "" ? undefined : sentId(message.id).replace(/\.\d+$/, ""));
                expect([message.content, message.instructContent]).toEqual(["", undefined]);
              }
            }
            const span = event.type === "act.ended" ? ({ spanId: event.act.replace(/~\d+$/, "") } as SpanContext) : undefined;
            origins.apply(event, span);
          }
        }),
        { numRuns: tries(4, 60) },
      );
    },
  );

  test("the long-term memory of a role gets what the role has read, also when the run continues elsewhere", async () => {
    const store = inMemoryStore();
    const lie = byzantine("Ann", () => ({ kind: "rewrite", content: "a lie" }));
    const journal = memoryJournal();
    const roles = [
      answering("Ann", (rc) => rc.message("the truth", { sendTo: ["Bob"] }), { watch: ["UserRequirement"] }),
      answering("Bob", (rc) => rc.message(`I read ${rc.news[0]?.content}`), { watch: [], memory: { store } }),
    ];
    await new Team({ roles, edges: [lie], journal }).run("go", { id: "r", rounds: 2 }).result;
    expect(await storedIn(store, "Bob")).toContain("r Ann#0.0: a lie");
    const again = inMemoryStore();
    const others = [
      roles[0]!,
      answering("Bob", (rc) => rc.message(`I read ${rc.news[0]?.content}`), { watch: [], memory: { store: again } }),
    ];
    await new Team({ roles: others, edges: [lie], journal }).resume("r", { rounds: 9 }).result;
    expect(await storedIn(again, "Bob")).toContain("r Ann#0.0: a lie");
    expect((await eventsOf(journal, "r")).some((event) => JSON.stringify(event).includes("the truth"))).toBe(true);
  });
});
