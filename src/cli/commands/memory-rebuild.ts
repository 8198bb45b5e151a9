import type { StoredRole } from "../../adapters/sqlite-store-roles.ts";
import { fingerprintOf } from "../../memory/embedder.ts";
import { hashingEmbedder } from "../../memory/hashing-embedder.ts";
import { confirmRemoval } from "../confirm.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { findRole } from "../memory-id.ts";
import { withMemories } from "../memory-store.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import type { Flags } from "../settings.ts";

/**
 * `troupe memory rebuild <role>`: makes all vectors again, from the messages and with the embedder that needs no network. Those that another one
 * made are asked about.
 */
export function memoryRebuildCommand(host: Host, given: string, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withMemories<ExitCode>(session, flags, async (store) => {
      const { roles } = await store.roles();
      const roleId = findRole(
        roles.map((role) => role.roleId),
        given,
      );
      const foreign = foreignVectors(roles.find((role) => role.roleId === roleId));
      if (foreign > 0) {
        const question = `Replace ${plural(foreign, "vector")} that another embedder made? Its program will have to make them again.`;
        await confirmRemoval(session, question, flags.yes === true);
      }
      const storage = store.writing(roleId, hashingEmbedder());
      await storage.rebuild({ signal: session.interruptions.signal });
      const { size: messages, damaged } = storage;
      if (session.json === undefined)
        session.screen.say(`Made the vectors of ${plural(messages, "message")} of ${shown(roleId, 100)} again.`);
      else await session.json.write({ type: "rebuilt", roleId, messages, damaged });
      if (damaged === 0) return 0;
      session.screen.insist([session.screen.style.bad(`${plural(damaged, "message")} cannot be read: the store is damaged.`)]);
      return 2;
    }),
  );
}

function foreignVectors(role: StoredRole | undefined): number {
  const own = fingerprintOf(hashingEmbedder());
  return (role?.vectors ?? []).reduce((sum, { fingerprint, count }) => (fingerprint === own ? sum : sum + count), 0);
}
