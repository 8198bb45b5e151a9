import { setTimeout as delay } from "node:timers/promises";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { Team } from "../../src/team/team.ts";

/** Characters of the word at which the last role keeps it. */
const LONGEST = 13;

/** The first word. */
export const begin: Message = createMessage("begin", { id: "begin", sendTo: ["Ann"] });

/** A team that hands a word on and does three steps each time. @param called told of each effect that was done @param pace milliseconds of the shortest effect */
export function relayTeam(journal: Journal, called: () => void = () => {}, pace = 3): Team {
  const runner = (name: string, next: string): Role =>
    defineRole({
      name,
      react: async (rc) => {
        for (const { content } of rc.news) {
          const works = [1, 2, 3].map((n) =>
            rc.step("work", { content, n }, async () => {
              called();
              await delay(n * pace);
              return `${content}${n} \0 ${"x".repeat(n * 50)}`;
            }),
          );
          const words = await Promise.all(works);
          if (content.length < LONGEST) rc.publish(rc.message(`${content}${words.length}`, { sendTo: [next] }));
        }
      },
    });
  const roles = [runner("Ann", "Bob"), runner("Bob", "Cid"), runner("Cid", "Ann")];
  // A test kills more often than a fault of an action would.
  return new Team({ name: "relay", seed: "relay", roles, journal, poisonAfter: 1_000 });
}
