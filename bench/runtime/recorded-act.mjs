/** The event that Troupe records for hop `k` of two players, as bytes. */
export function act(k) {
  const [role, other] = k % 2 === 0 ? ["One", "Other"] : ["Other", "One"];
  const n = Math.floor(k / 2);
  const id = `${role}#${n}.0`;
  return {
    v: 1,
    runId: "2026-11-21-1234567890",
    seq: k + 2,
    time: 1_795_000_000_000 + k,
    type: "act.ended",
    act: `${role}#${n}~1`,
    role,
    round: 0,
    take: 1,
    said: [
      {
        message: {
          id,
          content: String(k + 1),
          role: "assistant",
          causeBy: `Hit${role}`,
          sentFrom: role,
          sendTo: [other],
          parents: [`${other}#${n}.0`],
          timestamp: 1_795_000_000_000 + k,
          metadata: {},
        },
        to: [other],
      },
    ],
    memory: [
      ["+", `${other}#${n}.0`],
      ["+", id],
    ],
    working: [],
    at: 1_795_000_000_000 + k,
  };
}
